import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { tablesWith } from '#test/support/search-for-texts.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const ROLES = 'write-api,read-api,projections'

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

/** The erasures, which are each interrupted by a kill. */
const CASES = [
  { when: 'has begun', word: 'zirkon-first', isReached: isBegun },
  { when: 'has its event', word: 'zirkon-second', isReached: isAppended },
  { when: 'has destroyed the key', word: 'zirkon-third', isReached: isDestroyed },
] as const
/** The time limit in milliseconds of three kills, each with a start of the product and logins. */
const HOOK_MS = 360_000
const ids = new Map<string, number>()

/** Adds a person with a message and a token, in whose texts the name occurs. */
async function addPerson(word: string): Promise<void> {
  const body = { username: word, password: PASSWORD }
  const { id } = await root.must<{ id: number }>('POST', '/api/user/', body)
  ids.set(word, id)
  const message = { title: `About ${word}`, content: word, user_ids: [id] }
  await root.must('POST', '/api/admin/messages', message)
  const person = new ConsoleClient(processes[1].url)
  await person.logIn(word, PASSWORD)
  await person.createToken({ name: `${word}-token`, unlimited_quota: true })
}

/** Kills the process that erases the person, when the erasure has come so far. */
async function killDuringErasure({ word, isReached }: (typeof CASES)[number]): Promise<void> {
  const id = ids.get(word) ?? 0
  // A scratch copy, of which the killed process must not leave anything.
  const schema = `scratch_${String(id).padStart(32, '0')}_users`
  await pg.query(`create schema ${schema}; create table ${schema}.users as table read_users.users`)
  const killed = new ConsoleClient(processes[0].url)
  await killed.logIn('root', PASSWORD)
  const answer = killed.call('POST', '/api/user/erase', { id, username: word }).catch(() => null)
  const reached = async () => expect(await isReached(id)).toBe(1)
  await vi.waitFor(reached, { interval: 1, timeout: 45_000 })
  await processes[0].kill()
  await answer
  await processes[0].start()
}

// The processes look for interrupted erasures every half minute, so all of them are waited for
// together. All persons are added before the first kill, because the read models stand still after
// a kill until another process has taken over their lanes.
beforeAll(async () => {
  for (const { word } of CASES) await addPerson(word)
  for (const each of CASES) await killDuringErasure(each)
}, HOOK_MS)

it.each(CASES)('an erasure whose process is killed when it $when is finished', async (each) => {
  const { word } = each
  const id = ids.get(word) ?? 0
  // Without its event, the erasure was not accepted, so the admin repeats it. It may be answered
  // with an error while the lanes of the killed process are taken over.
  if ((await isAppended(id)) === 0) {
    await root.call('POST', '/api/user/erase', { id, username: word })
  }
  expect(await isAppended(id)).toBe(1)
  await expect.poll(() => isBegun(id), { timeout: 100_000 }).toBe(0)
  expect(await tablesWith(pg, [word])).toEqual([])
})
