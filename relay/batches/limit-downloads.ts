import { once } from 'node:events'
import { relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { watchAccess } from '../pipeline/current-caller.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { Permits } from '../tasks/limit-concurrent-work.ts'

/** The maximum number of downloads of one user that a process serves at once. */
const DOWNLOADS_OF_USER_MAX = 32
const permits = new Permits({ total: 256, waiting: 512, waitingPerName: 64, waitMs: 10_000 })
/** The maximum duration of a download in milliseconds. */
const TOTAL_MS = 3_600_000
/**
 * The number of bytes that the caller must read within `downloadStallMs`. A slow caller who reads a
 * long line of results is thus told from one who reads nothing.
 */
const PIECE_BYTES = 64 * 1024
const BUSY = relayError('overloaded', { retryAfter: 5 })
const TOO_MANY_OF_USER = relayError('too_many_concurrent', {
  subject: `${DOWNLOADS_OF_USER_MAX} downloads (this user)`,
  retryAfter: 5,
})

/** A response that is sent while it is downloaded from a provider. */
export type Download = {
  /** Aborted if the download must end, for example because the caller has disconnected. */
  readonly signal: AbortSignal
  /** Writes a part of the response. Rejects if the caller does not read, or if `signal` aborts. */
  readonly write: (data: Buffer | string) => Promise<void>
}

/**
 * Runs `work`, which sends a file or the results of a batch while it downloads them. `work` must
 * end the response, or destroy it after an error. The download ends if the caller reads nothing for
 * `downloadStallMs`, loses access or takes too long. Without these limits, callers who do not read
 * would hold connections to the provider, memory and permits for an hour. Sends an error instead if
 * too many downloads are running.
 */
export async function whileDownloading(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  work: (download: Download) => Promise<void>,
): Promise<void> {
  const { response } = exchange
  const { downloadStallMs } = deps.deadlines
  const gone = new AbortController()
  const abort = () => gone.abort()
  response.once('close', abort)
  if (response.destroyed) abort()
  const ofUser = { name: `user ${caller.user.userId}`, max: DOWNLOADS_OF_USER_MAX }
  const release = await permits.enter([ofUser], gone.signal)
  if (release === null) {
    return sendError(exchange, permits.isAtLimit(ofUser) ? TOO_MANY_OF_USER : BUSY)
  }
  const late = setTimeout(abort, TOTAL_MS)
  const endWatch = watchAccess(deps, caller, exchange, (error) => {
    sendError(exchange, error)
    abort()
  })
  const { signal } = gone
  const event = async (type: 'drain' | 'finish'): Promise<void> => {
    const stalled = setTimeout(abort, downloadStallMs)
    try {
      await once(response as never, type, { signal })
    } finally {
      clearTimeout(stalled)
    }
  }
  const write = async (data: Buffer | string): Promise<void> => {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      signal.throwIfAborted()
      if (!response.write(bytes.subarray(at, at + PIECE_BYTES))) await event('drain')
    }
  }
  try {
    await work({ signal, write })
    // The end of the response may still wait for the caller.
    if (!response.writableFinished && !response.destroyed) await event('finish')
  } catch (error) {
    if (!signal.aborted) throw error
    response.destroy()
  } finally {
    clearTimeout(late)
    endWatch()
    release()
  }
}

/**
 * Ends a response that has begun, after a failure. The caller sees that it is cut, but gets no
 * error, so the failure is logged with its `about`, unless the download ended for the caller.
 */
export function endCutDownload(
  { log }: Pick<RelayDeps, 'log'>,
  { response }: Exchange,
  signal: AbortSignal,
  about: { readonly err: unknown; readonly [name: string]: unknown },
): void {
  if (!signal.aborted && !response.destroyed) log.warn(about, 'a download was cut')
  response.destroy()
}
