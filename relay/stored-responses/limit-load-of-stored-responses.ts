import type { ResponseContent } from './response-contents.ts'
import type { StoredResponses } from './stored-response-owners.ts'

/** The limits for requests that use the store of response ids. */
export type StoreBounds = {
  /** The time after which an answer no longer waits for the store. */
  readonly waitMs: number
  /** The maximum number of contents that are written at the same time. */
  readonly writesMax: number
  /** The maximum number of lookups at the same time. */
  readonly lookupsMax: number
  readonly lookupsPerTokenMax: number
}

export const STORE_BOUNDS: StoreBounds = {
  ...{ waitMs: 5_000, writesMax: 64, lookupsMax: 64, lookupsPerTokenMax: 16 },
}

/**
 * Limits how long requests wait for the store and how many lookups run at the same time. Lookups
 * precede the permit of a call. Without these limits, one token could occupy all connections to the
 * database. A lookup counts until the database has answered, even if its request no longer waits.
 */
export function boundedStoredResponses(
  store: StoredResponses,
  { waitMs, writesMax, lookupsMax, lookupsPerTokenMax } = STORE_BOUNDS,
): StoredResponses {
  const running = new Map<number, number>()
  let total = 0
  const count = (tokenId: number, change: 1 | -1): void => {
    total += change
    const ofToken = (running.get(tokenId) ?? 0) + change
    if (ofToken === 0) running.delete(tokenId)
    else running.set(tokenId, ofToken)
  }
  const lookUp = async <T>(tokenId: number, start: () => Promise<T>): Promise<T> => {
    const ofToken = running.get(tokenId) ?? 0
    if (total >= lookupsMax || ofToken >= lookupsPerTokenMax) throw new Error('too many lookups')
    count(tokenId, 1)
    return inTime(
      start().finally(() => count(tokenId, -1)),
      waitMs,
    )
  }
  const { contents } = store
  let writes = 0
  const write = async (content: ResponseContent): Promise<void> => {
    if (writes >= writesMax) throw new Error('too many contents')
    writes += 1
    const writing = contents.add(content).finally(() => {
      writes -= 1
    })
    return inTime(writing, waitMs)
  }
  return {
    add: (response) => inTime(store.add(response), waitMs),
    find: (tokenId, ids) => lookUp(tokenId, () => store.find(tokenId, ids)),
    remove: (tokenId, responseId) => inTime(store.remove(tokenId, responseId), waitMs),
    sweep: (at) => store.sweep(at),
    contents: {
      add: write,
      sizes: (tokenId, ids) => lookUp(tokenId, () => contents.sizes(tokenId, ids)),
      load: (tokenId, ids, complete) => {
        return lookUp(tokenId, () => contents.load(tokenId, ids, complete))
      },
      remove: (tokenId, responseId) => inTime(contents.remove(tokenId, responseId), waitMs),
      sweep: (at) => contents.sweep(at),
    },
  }
}

function inTime<T>(pending: Promise<T>, waitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the store did not answer within ${waitMs} ms`))
    const timer = setTimeout(late, waitMs)
    pending.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
