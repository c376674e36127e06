import { describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { createPools } from '#infra/postgres/pools.ts'
import {
  type ClientSecret,
  type ClientSecrets,
  createClientSecrets,
  SECRETS_MAX,
} from '#relay/realtime/client-secret-store.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { clientSecretsInMemory } from '../support/in-memory-stores.ts'

const postgres = startedOnce(async () => {
  const database = await testDatabase()
  const pools = await createPools(database.url)
  const store = await createClientSecrets(pools.pg)
  return {
    store,
    close: async () => {
      await pools.close()
      await database.drop()
    },
  }
})

const AT = Date.UTC(2026, 10, 28)
const secret = (secretHash: string, keyLookup: string): ClientSecret => ({
  ...{ secretHash, keyLookup, userId: 7, pinnedChannelId: null, model: 'gpt-realtime' },
  ...{ isBeta: false, settings: 'sealed' as Sealed, expiresAt: AT + 60_000 },
})

const STORES: readonly (readonly [string, () => ClientSecrets])[] = [
  ['Postgres', () => postgres.store],
  ['the memory of a test', clientSecretsInMemory],
]

describe.each(STORES)('the temporary keys in %s', (_name, createStore) => {
  it('are found until they expire, and then deleted', async () => {
    const store = createStore()
    const pinned = { ...secret('a', 'one'), pinnedChannelId: 4, isBeta: true }
    expect(await store.add(pinned, AT)).toBe(true)
    expect(await store.find('a', AT + 59_999)).toEqual(pinned)
    expect(await store.find('a', AT + 60_000)).toBe(null)
    expect(await store.find('b', AT)).toBe(null)
    await store.sweep(AT + 60_000)
    expect(await store.find('a', AT)).toBe(null)
  })

  it('are limited for each token', async () => {
    const store = createStore()
    for (let at = 0; at < SECRETS_MAX; at += 50) {
      const some = Array.from({ length: 50 }, (_, index) => secret(`c${at + index}`, 'two'))
      await Promise.all(some.map((each) => store.add(each, AT)))
    }
    expect(await store.add(secret('one too many', 'two'), AT)).toBe(false)
    expect(await store.add(secret('of another', 'three'), AT)).toBe(true)
    expect(await store.add(secret('later', 'two'), AT + 60_000)).toBe(true)
  })
})
