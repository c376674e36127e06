import { describe, expect, it } from 'vitest'
import { createPools } from '#infra/postgres/pools.ts'
import {
  createStoredResponses,
  type StoredResponse,
  type StoredResponses,
} from '#relay/stored-responses/stored-response-owners.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'

const postgres = startedOnce(async () => {
  const database = await testDatabase()
  const pools = await createPools(database.url)
  const store = await createStoredResponses(pools.pg)
  return {
    store,
    close: async () => {
      await pools.close()
      await database.drop()
    },
  }
})

const AT = Date.UTC(2026, 10, 27)
const response = (tokenId: number, responseId: string, itemIds: string[] = []): StoredResponse => ({
  ...{ tokenId, responseId, itemIds, channelId: 7, keyRef: 'key-1', model: 'gpt-6' },
  ...{ tokens: 1_500, outputTokens: 500, at: AT },
})

const STORES: readonly (readonly [string, () => StoredResponses])[] = [
  ['Postgres', () => postgres.store],
  ['the memory of a test', storedResponsesInMemory],
]

describe.each(STORES)('the stored responses in %s', (_name, createStore) => {
  it('are found by the ids of the response and its items, for the token that made it', async () => {
    const store = createStore()
    await store.add(response(1, 'resp_1', ['msg_1', 'fc_1', 'fc_1']))
    const place = { responseId: 'resp_1', channelId: 7, keyRef: 'key-1', model: 'gpt-6' }
    const found = await store.find(1, ['resp_1', 'msg_1', 'unknown'])
    expect(found.toSorted((one, other) => (one.id < other.id ? 1 : -1))).toMatchObject([
      { ...place, id: 'resp_1', tokens: 1_500 },
      { ...place, id: 'msg_1', tokens: 500 },
    ])
    expect(await store.find(2, ['resp_1', 'msg_1'])).toEqual([])
  })

  it('are gone with all their items after a removal by the same token', async () => {
    const store = createStore()
    await store.add(response(3, 'resp_1', ['msg_1']))
    await store.remove(4, 'resp_1')
    expect(await store.find(3, ['resp_1'])).toHaveLength(1)
    await store.remove(3, 'resp_1')
    expect(await store.find(3, ['resp_1', 'msg_1'])).toEqual([])
  })

  it('may be added many at once, and again', async () => {
    const store = createStore()
    const ids = Array.from({ length: 300 }, (_, index) => `resp_${index}`)
    await Promise.all([...ids, ...ids].map((id) => store.add(response(5, id, [`msg_${id}`]))))
    expect(await store.find(5, ids)).toHaveLength(300)
  })
})

it('are deleted after thirty days', async () => {
  const { store } = postgres
  await store.add(response(9, 'resp_1', ['msg_1']))
  await store.sweep(AT + 29 * 86_400_000)
  expect(await store.find(9, ['resp_1'])).toHaveLength(1)
  await store.sweep(AT + 31 * 86_400_000)
  expect(await store.find(9, ['resp_1', 'msg_1'])).toEqual([])
})
