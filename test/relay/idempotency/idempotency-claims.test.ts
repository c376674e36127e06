import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPools, type Pools } from '#infra/postgres/pools.ts'
import {
  CLAIM_MS,
  type ClaimedCalls,
  createClaimedCalls,
} from '#relay/idempotency/idempotency-claims.ts'
import { testDatabase } from '#test/support/test-database.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let pools: Pools[]
let relays: ClaimedCalls[]
beforeAll(async () => {
  database = await testDatabase()
  pools = await Promise.all([0, 1].map(() => createPools(database.url)))
  relays = await Promise.all(pools.map(({ pg }) => createClaimedCalls(pg)))
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()))
  await database.drop()
})

const NOW = Date.UTC(2026, 10, 21)
const of = (index: number): ClaimedCalls => {
  const relay = relays[index % relays.length]
  if (relay === undefined) throw new Error('no relay')
  return relay
}
const claim = (keyHash: string, call: string, at = NOW, index = 0) =>
  of(index).claim(claimOf(keyHash, call, at))
const claimOf = (keyHash: string, call: string, at = NOW) => {
  const bodyHash = `body of ${call}`
  return { userId: 7, tokenId: 1, keyHash, bodyHash, call, at }
}

it('fifty claims of one key over two relays make one call', async () => {
  const claims = await Promise.all(
    Array.from({ length: 50 }, (_, index) => claim('race', `call-${index}`, NOW, index)),
  )
  const [{ call, bodyHash } = { call: '', bodyHash: '' }] = claims
  expect(new Set(claims.map((one) => one.call))).toEqual(new Set([call]))
  expect(bodyHash).toBe(`body of ${call}`)
  expect(await claim('race', 'later')).toEqual({ call, bodyHash, isExpired: false })
})

it('a claim of a key expires after a day, and is replaced only then', async () => {
  await claim('daily', 'first')
  const first = { call: 'first', bodyHash: 'body of first' }
  const before = NOW + CLAIM_MS - 1
  await of(1).replace(claimOf('daily', 'second', before), 'first')
  expect(await claim('daily', 'second', before)).toEqual({ ...first, isExpired: false })
  expect(await claim('daily', 'second', NOW + CLAIM_MS)).toEqual({ ...first, isExpired: true })
  await of(1).replace(claimOf('daily', 'second', NOW + CLAIM_MS), 'another')
  expect(await claim('daily', 'second', NOW + CLAIM_MS)).toEqual({ ...first, isExpired: true })
})

it('a claim is found by each relay, and looking for one claims nothing', async () => {
  const { tokenId, keyHash } = claimOf('found', 'first')
  for (const relay of [0, 1]) expect(await of(relay).find({ tokenId, keyHash })).toBeNull()
  await claim('found', 'first')
  const found = { call: 'first', bodyHash: 'body of first' }
  for (const relay of [0, 1]) expect(await of(relay).find({ tokenId, keyHash })).toEqual(found)
})

it('fifty repeats over two relays replace an expired claim by one call', async () => {
  const at = NOW + CLAIM_MS
  await claim('replaced', 'first')
  const calls = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      await of(index).replace(claimOf('replaced', `call-${index}`, at), 'first')
      return (await claim('replaced', `call-${index}`, at, index)).call
    }),
  )
  expect(new Set(calls).size).toBe(1)
  expect(calls[0]).toMatch(/^call-/)
})

it('a key is freed only for the call that claimed it', async () => {
  await claim('freed', 'first')
  await of(1).free({ tokenId: 1, keyHash: 'freed', call: 'other' })
  expect(await claim('freed', 'second')).toMatchObject({ call: 'first' })
  await of(1).free({ tokenId: 1, keyHash: 'freed', call: 'first' })
  expect(await claim('freed', 'second')).toMatchObject({ call: 'second' })
})

it('a key is freed by its token and call alone, without the key itself', async () => {
  await claim('by call', 'swept')
  await of(1).freeCall({ tokenId: 2, call: 'swept' })
  expect(await claim('by call', 'next')).toMatchObject({ call: 'swept' })
  await of(1).freeCall({ tokenId: 1, call: 'swept' })
  expect(await claim('by call', 'next')).toMatchObject({ call: 'next' })
})

it('the expired claims are listed page by page, and removed unless replaced', async () => {
  const at = NOW + 10 * CLAIM_MS
  await claim('old', 'old 1', at - CLAIM_MS - 1)
  await claim('older', 'old 2', at - CLAIM_MS - 1)
  await claim('oldest day', 'old 3', at - CLAIM_MS)
  await claim('fresh', 'fresh', at - CLAIM_MS + 1)
  const after = { at: at - 2 * CLAIM_MS, call: '' }
  const first = await of(0).expired(at, after, 2)
  expect(first.map(({ call, userId }) => [call, userId])).toEqual([
    ['old 1', 7],
    ['old 2', 7],
  ])
  const second = await of(0).expired(at, first.at(-1) ?? null, 2)
  expect(second.map(({ call }) => call)).toEqual(['old 3'])
  await of(1).replace(claimOf('old', 'new', at), 'old 1')
  await of(0).remove([...first, ...second])
  expect(await of(0).expired(at, after, 9)).toEqual([])
  expect(await claim('old', 'other', at)).toMatchObject({ call: 'new' })
  expect(await claim('older', 'other', at)).toMatchObject({ call: 'other' })
  expect(await claim('fresh', 'other', at)).toMatchObject({ call: 'fresh' })
})

it('a claim of an earlier release, without its user, outlasts each open call', async () => {
  const { pg } = pools[0] ?? {}
  const at = NOW + 100 * CLAIM_MS
  await pg?.query(
    `insert into relay.claimed_calls (token_id, key_hash, body_hash, call, claimed_at)
     values (1, 'without user', 'body', 'batch', $1), (1, 'repeated', 'body', 'other', $1)`,
    [at],
  )
  const after = { at: at - 1, call: '' }
  const expiredAt = async (time: number) =>
    (await of(0).expired(time, after, 9)).map(({ call, userId }) => [call, userId])
  expect(await expiredAt(at + 44 * CLAIM_MS)).toEqual([])
  // A repeat of the request shows whose claim it is.
  await claim('repeated', 'repeat', at + 44 * CLAIM_MS)
  expect(await expiredAt(at + 44 * CLAIM_MS)).toEqual([['other', 7]])
  expect(await expiredAt(at + 46 * CLAIM_MS)).toEqual([
    ['batch', 0],
    ['other', 7],
  ])
})
