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
  of(index).claim({ tokenId: 1, keyHash, bodyHash: `body of ${call}`, call, at })

it('fifty claims of one key over two relays make one call', async () => {
  const claims = await Promise.all(
    Array.from({ length: 50 }, (_, index) => claim('race', `call-${index}`, NOW, index)),
  )
  const [{ call, bodyHash } = { call: '', bodyHash: '' }] = claims
  expect(new Set(claims.map((one) => one.call))).toEqual(new Set([call]))
  expect(bodyHash).toBe(`body of ${call}`)
  expect(await claim('race', 'later')).toEqual({ call, bodyHash })
})

it('a claim of a key lasts a day', async () => {
  await claim('daily', 'first')
  expect(await claim('daily', 'second', NOW + CLAIM_MS - 1)).toMatchObject({ call: 'first' })
  const third = { call: 'third', bodyHash: 'body of third' }
  expect(await claim('daily', 'third', NOW + CLAIM_MS)).toEqual(third)
  expect(await claim('daily', 'fourth', NOW + CLAIM_MS + 1)).toEqual(third)
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

it('the sweep removes exactly the claims that are older than a day', async () => {
  await claim('old', 'first', NOW - CLAIM_MS)
  await claim('fresh', 'first', NOW - CLAIM_MS + 1)
  await of(0).sweep(NOW)
  const found = await pools[0]?.pg.query(
    `select key_hash from relay.claimed_calls where key_hash in ('old', 'fresh')`,
  )
  expect(found?.rows).toEqual([{ key_hash: 'fresh' }])
})
