import { expect, it } from 'vitest'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { liveTablesOf, readInSnapshot } from '#projections/runner/read-in-snapshot.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import { tokens } from '#projections/tokens/projection.ts'
import { users } from '#projections/users/projection.ts'
import { tablesWith } from '#test/support/search-for-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

it('a verification finds no difference although a user is erased meanwhile', async () => {
  const { core, root } = fixture
  const username = 'verified-and-erased'
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  const { call } = await fixture.logIn(username)
  await call('POST', '/api/token/', { body: { name: username } })
  const erase = { body: { id, username } }
  const context = foldContext(core)
  let erased: Promise<unknown> | null = null
  const results = await verifyReadModels(core, [tokens, users], {
    ...context,
    open: async (...text) => {
      // The live rows were hashed before, and their events are folded after the erasure.
      erased ??= root.call('POST', '/api/user/erase', erase)
      expect(await erased).toMatchObject({ success: true })
      return await context.open(...text)
    },
  })
  expect(erased).not.toBeNull()
  expect(results).toMatchObject([
    { name: 'tokens', isEqual: true },
    { name: 'users', isEqual: true },
  ])
  expect(await tablesWith(core.pg, [username])).toEqual([])
})

it('still finds a row that was edited while a user was erased', async () => {
  const { core, root } = fixture
  const username = 'erased-beside-an-edit'
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  await core.pg.query(`update read_users.users set display_name = 'edited' where id = 2`)
  const context = foldContext(core)
  let erased: Promise<unknown> | null = null
  const [result] = await verifyReadModels(core, [users], {
    ...context,
    open: async (...text) => {
      erased ??= root.call('POST', '/api/user/erase', { body: { id, username } })
      await erased
      return await context.open(...text)
    },
  })
  expect(result).toMatchObject({ isEqual: false, tables: ['users'] })
  expect(result?.rows).toMatchObject([{ table: 'users', row: 'id 2', columns: ['display_name'] }])
  await rebuildReadModels(core, [users], context)
})

it('live tables that a rebuild replaces while they are read are read again', async () => {
  const { core } = fixture
  const read: number[] = []
  const count = await readInSnapshot(core.pg, liveTablesOf([users]), async (client) => {
    await client.query('select from projections.checkpoint')
    if (read.length === 0) await rebuildReadModels(core, PROJECTIONS, foldContext(core))
    const { rows } = await client.query('select count(*)::int as users from read_users.users')
    read.push(rows[0]?.users)
    return rows[0]?.users
  })
  // The first attempt has read a table that was empty at the time of its snapshot.
  expect(read).toEqual([0, count])
  expect(count).toBeGreaterThan(2)
})
