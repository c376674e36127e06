import { describe, expect, it } from 'vitest'
import { boundedStoredResponses } from '#relay/stored-responses/limit-load-of-stored-responses.ts'
import type { StoredId, StoredResponses } from '#relay/stored-responses/stored-response-owners.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'

const BOUNDS = { waitMs: 20, writesMax: 2, lookupsMax: 4, lookupsPerTokenMax: 2 }

/** A store that answers only when the test lets it. */
function slowStore(): { readonly store: StoredResponses; readonly answer: () => void } {
  const waiting: ((rows: readonly StoredId[]) => void)[] = []
  const find = () => new Promise<readonly StoredId[]>((resolve) => waiting.push(resolve))
  const add = () => new Promise<void>(() => {})
  return {
    store: { ...storedResponsesInMemory(), find, add },
    answer: () => {
      for (const resolve of waiting.splice(0)) resolve([])
    },
  }
}

describe('a slow store of responses', () => {
  it('does not delay an answer for long', async () => {
    const { store } = slowStore()
    const bounded = boundedStoredResponses(store, BOUNDS)
    await expect(bounded.add({} as never)).rejects.toThrow('20 ms')
    await expect(bounded.find(1, ['a'])).rejects.toThrow('20 ms')
  })

  it('gets a bounded number of lookups, of one token and of all', async () => {
    const { store, answer } = slowStore()
    const bounded = boundedStoredResponses(store, { ...BOUNDS, waitMs: 60_000 })
    const running = [1, 1, 2, 3].map((tokenId) => bounded.find(tokenId, ['a']))
    await expect(bounded.find(1, ['a'])).rejects.toThrow('too many')
    await expect(bounded.find(4, ['a'])).rejects.toThrow('too many')
    answer()
    await Promise.all(running)
    const next = bounded.find(1, ['a'])
    answer()
    await expect(next).resolves.toEqual([])
  })

  it('counts a lookup for which nothing waits any more', async () => {
    const { store, answer } = slowStore()
    const bounded = boundedStoredResponses(store, BOUNDS)
    const late = await Promise.allSettled([bounded.find(1, ['a']), bounded.find(1, ['a'])])
    expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(bounded.find(1, ['a'])).rejects.toThrow('too many')
    answer()
    await new Promise((resume) => setImmediate(resume))
    await expect(bounded.find(1, ['a'])).rejects.toThrow('20 ms')
  })
})
