import { type PermitName, Permits } from '../tasks/limit-concurrent-work.ts'
import type { ContentOwner, ResponseContent } from './response-content-store.ts'
import type { StoredResponses } from './stored-response-owners.ts'

/** The limits for requests that use the stores of response ids and of contents. */
type StoreBounds = {
  /** The time after which an answer no longer waits for the store. */
  readonly waitMs: number
  /** The maximum number of contents that are written at the same time. All other writes wait. */
  readonly writesMax: number
  /**
   * The maximum total length of the sealed contents that are being written or wait to be written.
   */
  readonly writtenBytesMax: number
  /** The maximum number of loads of one user's contents at the same time. All other loads wait. */
  readonly loadsPerUserMax: number
  /** The maximum number of loads of one user's contents that run or wait. */
  readonly waitingLoadsPerUserMax: number
  /** The maximum number of lookups at the same time. All other lookups wait. */
  readonly lookupsMax: number
  readonly lookupsPerUserMax: number
  /** The maximum number of lookups of one user that run or wait. */
  readonly waitingLookupsPerUserMax: number
}

const STORE_BOUNDS: StoreBounds = {
  ...{ waitMs: 5_000, writesMax: 4, writtenBytesMax: 64 * 1024 * 1024 },
  ...{ loadsPerUserMax: 2, waitingLoadsPerUserMax: 64, lookupsMax: 64 },
  ...{ lookupsPerUserMax: 16, waitingLookupsPerUserMax: 256 },
}

/**
 * Returns a store that limits how long requests wait for `store` and how many lookups run at the
 * same time. Without these limits, one user could occupy all connections to the database, because a
 * lookup runs before its call has a permit. A lookup counts until the database has answered, even
 * if its request no longer waits. Loads of contents are counted by user and separately from
 * lookups, because loads take longer. Only a few contents are written at the same time, so that
 * most connections are left for other queries.
 */
export function boundedStoredResponses(
  store: StoredResponses,
  bounds = STORE_BOUNDS,
): StoredResponses {
  const { waitMs, lookupsMax, lookupsPerUserMax, waitingLookupsPerUserMax } = bounds
  const lookups = new Permits({
    ...{ total: lookupsMax, waiting: Number.POSITIVE_INFINITY, waitMs },
    waitingPerName: waitingLookupsPerUserMax - lookupsPerUserMax,
  })
  const lookUp = <T>({ userId }: ContentOwner, start: () => Promise<T>): Promise<T> =>
    inTime(withPermit(lookups, [{ name: `${userId}`, max: lookupsPerUserMax }], start), waitMs)
  const { contents } = store
  const ofAll = { total: bounds.writesMax, waitingPerName: Number.POSITIVE_INFINITY }
  const writes = new Permits({ ...ofAll, waiting: Number.POSITIVE_INFINITY, waitMs })
  let writtenBytes = 0
  const write = async (content: ResponseContent): Promise<void> => {
    const bytes = lengthOf(content)
    if (writtenBytes + bytes > bounds.writtenBytesMax) throw new Error('too many writes wait')
    writtenBytes += bytes
    try {
      await withPermit(writes, [], () => contents.add(content))
    } finally {
      writtenBytes -= bytes
    }
  }
  const { loadsPerUserMax, waitingLoadsPerUserMax } = bounds
  const ofUsers = { total: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY }
  const waitingPerName = waitingLoadsPerUserMax - loadsPerUserMax
  const loads = new Permits({ ...ofUsers, waitingPerName, waitMs })
  const load = <T>({ userId }: ContentOwner, start: () => Promise<T>): Promise<T> =>
    withPermit(loads, [{ name: `${userId}`, max: loadsPerUserMax }], start)
  return {
    add: (response) => inTime(store.add(response), waitMs),
    find: (owner, ids) => lookUp(owner, () => store.find(owner, ids)),
    remove: (tokenId, responseId) => inTime(store.remove(tokenId, responseId), waitMs),
    sweep: (at) => store.sweep(at),
    contents: {
      add: (content) => inTime(write(content), waitMs),
      sizes: (owner, ids) => lookUp(owner, () => contents.sizes(owner, ids)),
      load: (owner, ids, previous) =>
        inTime(
          load(owner, () => contents.load(owner, ids, previous)),
          waitMs,
        ),
      loadResponse: (owner, id) =>
        inTime(
          load(owner, () => contents.loadResponse(owner, id)),
          waitMs,
        ),
      remove: (tokenId, responseId) => inTime(contents.remove(tokenId, responseId), waitMs),
      owners: () => contents.owners(),
      removeOfTokens: (tokenIds) => contents.removeOfTokens(tokenIds),
      sweep: (at) => contents.sweep(at),
    },
  }
}

const lengthOf = ({ response, output, input }: ResponseContent): number =>
  response.length + output.length + (input?.length ?? 0)

/**
 * Runs an operation once there is a permit for it. Rejects if too many other operations are
 * waiting, or if the wait is too long.
 */
async function withPermit<T>(
  permits: Permits,
  names: readonly PermitName[],
  operation: () => Promise<T>,
): Promise<T> {
  const release = await permits.enter(names, new AbortController().signal)
  if (release === null) throw new Error('too many operations of the store wait')
  try {
    return await operation()
  } finally {
    release()
  }
}

function inTime<T>(pending: Promise<T>, waitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the store did not answer within ${waitMs} ms`))
    const timer = setTimeout(late, waitMs)
    pending.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
