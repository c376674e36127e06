import { describe, expect, it } from 'vitest'
import { boundedStoredResponses } from '#relay/stored-responses/limit-running-store-operations.ts'
import type { ContentOwner } from '#relay/stored-responses/response-content-store.ts'
import type { StoredId, StoredResponses } from '#relay/stored-responses/stored-response-owners.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'

const BOUNDS = {
  ...{ waitMs: 20, writesMax: 2, writtenBytesMax: 10, loadsPerUserMax: 2 },
  ...{ waitingLoadsPerUserMax: 3, lookupsMax: 3, lookupsPerUserMax: 2 },
  waitingLookupsPerUserMax: 3,
}

const OWNER = { tokenId: 1, userId: 7 }
const settle = () => new Promise((resume) => setImmediate(resume))

/** A store that answers only when the test lets it. `runningOf` returns the tokens it works for. */
function slowStore() {
  const waiting: { readonly tokenId: number; readonly end: (rows: readonly []) => void }[] = []
  const find = ({ tokenId }: ContentOwner) =>
    new Promise<readonly StoredId[]>((end) => waiting.push({ tokenId, end }))
  const add = () => new Promise<void>(() => {})
  const store: StoredResponses = { ...storedResponsesInMemory(), find, add }
  return {
    store,
    runningOf: () => waiting.map(({ tokenId }) => tokenId),
    answer: () => {
      for (const { end } of waiting.splice(0)) end([])
    },
  }
}

describe('a slow store of responses', () => {
  it('does not delay an answer for long', async () => {
    const { store } = slowStore()
    const bounded = boundedStoredResponses(store, BOUNDS)
    await expect(bounded.add({} as never)).rejects.toThrow('20 ms')
    await expect(bounded.find(OWNER, ['a'])).rejects.toThrow('20 ms')
  })

  it('gets few lookups of a user at once, and serves other users before them', async () => {
    const { store, answer, runningOf } = slowStore()
    const bounded = boundedStoredResponses(store, { ...BOUNDS, waitMs: 60_000 })
    const find = (userId: number, tokenId: number) => bounded.find({ userId, tokenId }, ['a'])
    const ofUser = [find(7, 1), find(7, 2), find(7, 3)]
    await expect(find(7, 4)).rejects.toThrow('too many')
    const ofOthers = [find(8, 5), find(9, 6)]
    await settle()
    expect(runningOf()).toEqual([1, 2, 5])
    answer()
    await settle()
    expect(runningOf()).toEqual([3, 6])
    answer()
    await Promise.all([...ofUser, ...ofOthers])
  })

  it('counts a lookup for which nothing waits any more', async () => {
    const { store, answer, runningOf } = slowStore()
    const bounded = boundedStoredResponses(store, BOUNDS)
    const find = (tokenId: number) => bounded.find({ userId: 7, tokenId }, ['a'])
    const late = await Promise.allSettled([find(1), find(2), find(3)])
    expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(runningOf()).toEqual([1, 2])
    await expect(find(4)).rejects.toThrow()
    expect(runningOf()).toEqual([1, 2])
    answer()
    await settle()
    const next = find(5)
    await settle()
    expect(runningOf()).toEqual([5])
    answer()
    await expect(next).resolves.toEqual([])
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
    await expect(contents.sizes(OWNER, [])).resolves.toEqual([])
  })
})
