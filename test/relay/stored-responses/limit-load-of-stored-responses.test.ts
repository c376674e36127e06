import { describe, expect, it } from 'vitest'
import { boundedStoredResponses } from '#relay/stored-responses/limit-load-of-stored-responses.ts'
import type { StoredId, StoredResponses } from '#relay/stored-responses/stored-response-owners.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'

const BOUNDS = {
  ...{ waitMs: 20, writesMax: 2, writtenBytesMax: 10, loadsPerUserMax: 2 },
  ...{ waitingLoadsPerUserMax: 3, lookupsMax: 4, lookupsPerTokenMax: 2 },
}

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

const CONTENT = {
  ...{ tokenId: 1, userId: 7, responseId: 'resp_a', outputBytes: 1, inputBytes: 1, at: 0 },
  ...{ response: Buffer.from('r'), output: Buffer.from('o'), input: null },
}

/** A store whose writes and loads of contents end when the test says so. */
function slowContents() {
  const ends: (() => void)[] = []
  let runningMost = 0
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      ends.push(resolve)
      runningMost = Math.max(runningMost, ends.length)
    })
  const memory = storedResponsesInMemory()
  const contents = {
    ...memory.contents,
    add: begin,
    load: async () => {
      await begin()
      return []
    },
  }
  const bounded = boundedStoredResponses({ ...memory, contents }, { ...BOUNDS, waitMs: 60_000 })
  const endAll = async (): Promise<void> => {
    while (ends.length > 0) {
      ends.shift()?.()
      await new Promise((resume) => setImmediate(resume))
    }
  }
  return { contents: bounded.contents, endAll, runningMost: () => runningMost }
}

describe('a slow store of contents', () => {
  it('writes few contents at once, and keeps others in bounded memory', async () => {
    const { contents, endAll, runningMost } = slowContents()
    const writing = Array.from({ length: 5 }, () => contents.add(CONTENT))
    await expect(contents.add(CONTENT)).rejects.toThrow('too many')
    await endAll()
    await Promise.all(writing)
    expect(runningMost()).toBe(2)
  })

  it('loads few contents of a user at once, and does not delay other users', async () => {
    const { contents, endAll, runningMost } = slowContents()
    const load = (userId: number, tokenId: number) => contents.load({ userId, tokenId }, [], null)
    const loading = [load(7, 1), load(7, 2), load(7, 3)]
    await expect(load(7, 4)).rejects.toThrow('too many')
    expect(runningMost()).toBe(2)
    const ofOther = load(8, 5)
    await new Promise((resume) => setImmediate(resume))
    expect(runningMost()).toBe(3)
    await endAll()
    await Promise.all([...loading, ofOther])
    await expect(contents.sizes(4, [])).resolves.toEqual([])
  })
})
