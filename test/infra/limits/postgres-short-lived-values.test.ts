import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPostgresShortLived } from '#infra/limits/short-lived-values.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { shortLivedSuite } from './short-lived-suite.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let ahead = 0
const secretKey = randomBytes(32)

beforeAll(async () => {
  database = await testDatabase()
  pg = new Pool({ connectionString: database.url })
})
afterAll(async () => {
  await pg.end()
  await database.drop()
})

const open = (key = secretKey) => createPostgresShortLived(pg, key, () => Date.now() + ahead)

shortLivedSuite('short-lived values in Postgres', async () => ({
  values: await open(),
  close: async () => {},
}))

it('one process stores short-lived values in Postgres, and another one reads them', async () => {
  const [one, other, stranger] = [await open(), await open(), await open(randomBytes(32))]
  await one.put('state', 'abc', 'login', 60_000)
  expect(await stranger.peek('state', 'abc')).toBeNull()
  expect(await other.take('state', 'abc')).toBe('login')
})

it('short-lived values in Postgres are unreadable, and are deleted when they expire', async () => {
  const values = await open()
  await values.put('code', 'canary@example.org', 'canary-654321', 60_000)
  const dump = async () => JSON.stringify((await pg.query('table auth.short_lived')).rows)
  expect(await dump()).not.toContain('canary')
  expect(await dump()).not.toContain(Buffer.from('canary').toString('hex'))
  const before = (await pg.query('table auth.short_lived')).rowCount ?? 0
  expect(before).toBeGreaterThan(0)
  ahead = 3_600_000
  await values.put('code', 'next@example.org', '1', 60_000)
  expect((await pg.query('table auth.short_lived')).rowCount).toBe(1)
})
