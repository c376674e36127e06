import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { tablesWith } from '#test/support/search-for-texts.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const ROLES = 'write-api,read-api,projections'
const SCHEMA = `scratch_${'0'.repeat(32)}_users`

let site: Site
let processes: [ProductProcess, ProductProcess]
let root: ConsoleClient
let pg: Pool

beforeAll(async () => {
  site = await startSite()
  pg = new Pool({ connectionString: site.environment.DATABASE_URL, max: 2 })
  processes = [await site.start(ROLES), await site.start(ROLES)]
  await setUpSite(processes[0].url)
  root = new ConsoleClient(processes[1].url)
  await root.logIn('root', PASSWORD)
})
afterAll(async () => {
  await pg?.end()
  await site?.close()
})

const countOf = async (text: string, values: unknown[]): Promise<number> =>
  (await pg.query(text, values)).rowCount ?? 0
const isBegun = (id: number) =>
  countOf('select from vault.unfinished_erasures where user_id = $1', [id])
const isAppended = (id: number) =>
  countOf(`select from event_store.events where stream = $1 and type = 'UserErased'`, [
    `user-${id}`,
  ])
const isDestroyed = (id: number) =>
  countOf(`select from vault.user_keys where user_id = $1 and wrapped_key = ''`, [id])

it.each([
  ['has begun', 'first', isBegun],
  ['has its event', 'second', isAppended],
  ['has destroyed the key', 'third', isDestroyed],
])('an erasure whose process is killed when it %s is finished', async (_when, name, isReached) => {
  const word = `zirkon-${name}`
  const body = { username: word, password: PASSWORD }
  const { id } = await root.must<{ id: number }>('POST', '/api/user/', body)
  const message = { title: `About ${word}`, content: word, user_ids: [id] }
  await root.must('POST', '/api/admin/messages', message)
  const person = new ConsoleClient(processes[1].url)
  await person.logIn(word, PASSWORD)
  await person.createToken({ name: `${word}-token`, unlimited_quota: true })
  // A scratch copy, of which the killed process must not leave anything.
  await pg.query(`create schema ${SCHEMA}; create table ${SCHEMA}.users as table read_users.users`)
  const killed = new ConsoleClient(processes[0].url)
  await killed.logIn('root', PASSWORD)
  const answer = killed.call('POST', '/api/user/erase', { id, username: word }).catch(() => null)
  await expect.poll(() => isReached(id), { interval: 1 }).toBe(1)
  await processes[0].kill()
  await answer
  await processes[0].start()
  // Without its event, the erasure was not accepted, so the admin repeats it.
  if ((await isAppended(id)) === 0) {
    await root.must('POST', '/api/user/erase', { id, username: word })
  }
  // The other process looks for it every half minute.
  await expect.poll(() => isBegun(id), { timeout: 100_000 }).toBe(0)
  expect(await tablesWith(pg, [word])).toEqual([])
})
