import { expect, it, onTestFinished, vi } from 'vitest'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { hasErasedRows, removeErasedRows } from '#infra/vault/vacuum-erased-rows.ts'
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

/** The limit of `removeErasedRows`. */
const REWRITTEN_BYTES_MAX = 16 * 1024 ** 2
const FILES = `
  select inhrelid::regclass as table, pg_relation_filepath(inhrelid) as file,
    pg_total_relation_size(inhrelid) as bytes
  from pg_inherits where inhparent = 'vault.user_keys'::regclass`

async function userWithTexts(username: string) {
  const { root, core } = fixture
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  const { rows } = await core.pg.query<{ wrapped_key: Buffer; partition: string }>(
    'select wrapped_key, tableoid::regclass as partition from vault.user_keys where user_id = $1',
    [id],
  )
  const { wrapped_key: key = Buffer.alloc(0), partition = '' } = rows[0] ?? {}
  expect(key.length).toBeGreaterThan(0)
  const inFiles = async () => [
    await isInFile(partition, key),
    await isInFile('read_users.users', Buffer.from(username)),
  ]
  await expect.poll(inFiles).toEqual([true, true])
  return { id, inFiles, erase: { body: { id, username } } }
}

it('a table that cannot be rewritten quickly is only vacuumed', async () => {
  const { pg } = fixture.core
  await pg.query('create table public.long as select n from generate_series(1, 300000) n')
  const table = 'public.long'
  const fileOf = async () =>
    (await pg.query('select pg_relation_filepath($1) as file', [table])).rows[0]?.file
  const before = await fileOf()
  const remove = async (limits?: { bytes: number; ms: number }) => {
    await pg.query('insert into vault.erased_rows default values')
    expect(await removeErasedRows(pg, [table], limits)).toBe(true)
    expect(await hasErasedRows(pg)).toBe(false)
  }
  await remove({ bytes: 0, ms: 60_000 })
  expect(await fileOf()).toBe(before)
  // Writing so many rows takes several times as long.
  await remove({ bytes: 1_000_000_000, ms: 25 })
  expect(await fileOf()).toBe(before)
  await remove({ bytes: 1_000_000_000, ms: 60_000 })
  expect(await fileOf()).not.toBe(before)
})

it('a table in use is left alone after a moment, and is tried again later', async () => {
  const { pg } = fixture.core
  await pg.query('insert into vault.erased_rows default values')
  await inTransaction(pg, async (client) => {
    await client.query('lock table vault.secrets in access share mode')
    const startedAt = performance.now()
    await expect(removeErasedRows(pg, [])).rejects.toThrow('lock timeout')
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
  expect(await hasErasedRows(pg)).toBe(true)
  expect(await removeErasedRows(pg, [])).toBe(true)
})

it('of many keys, only the partition of the erased user is rewritten', async () => {
  const { core } = fixture
  onTestFinished(async () => {
    await core.pg.query('delete from vault.user_keys where user_id > 10000000')
  })
  // A table of so many keys without partitions is above the limit.
  await core.pg.query(
    `insert into vault.user_keys select n, 'kid', decode(repeat('ab', 60), 'hex')
     from generate_series(10000001, 10300000) n`,
  )
  const { rows } = await core.pg.query<{ table: string; file: string; bytes: string }>(FILES)
  const sizes = rows.map(({ bytes }) => Number(bytes))
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(REWRITTEN_BYTES_MAX)
  expect(Math.max(...sizes)).toBeLessThan(REWRITTEN_BYTES_MAX)
  const { id, inFiles, erase } = await userWithTexts('user-among-many')
  expect((await fixture.root.call('POST', '/api/user/erase', erase)).success).toBe(true)
  await expect.poll(inFiles).toEqual([false, false])
  // The bytes may leave a full page before the rewrite.
  await expect.poll(() => hasErasedRows(core.pg)).toBe(false)
  const files = new Map(rows.map(({ table, file }) => [table, file]))
  const after = (await core.pg.query<{ table: string; file: string }>(FILES)).rows
  const rewritten = after.filter(({ table, file }) => files.get(table) !== file)
  const own = 'select tableoid::regclass as table from vault.user_keys where user_id = $1'
  const { rows: owns } = await core.pg.query<{ table: string }>(own, [id])
  expect(rewritten.map(({ table }) => table)).toEqual(owns.map(({ table }) => table))
})

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

it('a private message leaves the files, deleted after the removal of the key’s rows', async () => {
  const { core, root } = fixture
  const { id, erase } = await userWithTexts('recipient-in-files')
  const content = 'a message that is only in the files'
  const body = { title: 'About you', content, user_ids: [id] }
  expect((await root.call('POST', '/api/admin/messages', { body })).success).toBe(true)
  const inFile = () => isInFile('read_messages.messages', Buffer.from(content))
  await expect.poll(inFile).toBe(true)
  const destroyUser = core.vault.destroyUser.bind(core.vault)
  vi.spyOn(core.vault, 'destroyUser').mockImplementation(async (userId) => {
    await destroyUser(userId)
    // The background job removes the rows of the key before this erasure goes on.
    await expect.poll(() => hasErasedRows(core.pg)).toBe(false)
  })
  expect((await root.call('POST', '/api/user/erase', erase)).success).toBe(true)
  await expect.poll(inFile).toBe(false)
})
