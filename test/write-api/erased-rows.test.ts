import { expect, it } from 'vitest'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

/** Reports whether the file of the table contains these bytes, in a living or an old row. */
async function isInFile(table: string, bytes: Buffer): Promise<boolean> {
  const { pg } = fixture.core
  await pg.query('checkpoint')
  const { rows } = await pg.query<{ file: Buffer }>(
    'select pg_read_binary_file(pg_relation_filepath($1)) as file',
    [table],
  )
  return rows[0]?.file.includes(bytes) === true
}

async function userWithTexts(username: string) {
  const { root, core } = fixture
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  const { rows } = await core.pg.query<{ wrapped_key: Buffer }>(
    'select wrapped_key from vault.user_keys where user_id = $1',
    [id],
  )
  const key = rows[0]?.wrapped_key ?? Buffer.alloc(0)
  expect(key.length).toBeGreaterThan(0)
  const inFiles = async () => [
    await isInFile('vault.user_keys', key),
    await isInFile('read_users.users', Buffer.from(username)),
  ]
  await expect.poll(inFiles).toEqual([true, true])
  return { id, inFiles, erase: { body: { id, username } } }
}

it('an erased user’s key and name leave the files of the database', async () => {
  const { inFiles, erase } = await userWithTexts('user-in-files')
  expect((await fixture.root.call('POST', '/api/user/erase', erase)).success).toBe(true)
  await expect.poll(inFiles).toEqual([false, false])
})

it('they leave them after the last transaction that can see them has ended', async () => {
  const { core } = fixture
  const { id, inFiles, erase } = await userWithTexts('user-in-a-snapshot')
  await inTransaction(
    core.pg,
    async (client) => {
      const text = 'select from vault.user_keys where user_id = $1'
      expect((await client.query(text, [id])).rowCount).toBe(1)
      expect((await fixture.root.call('POST', '/api/user/erase', erase)).success).toBe(true)
      expect((await inFiles())[0]).toBe(true)
    },
    { begin: 'begin isolation level repeatable read' },
  )
  await expect.poll(inFiles).toEqual([false, false])
})
