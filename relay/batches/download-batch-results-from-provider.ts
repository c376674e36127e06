import { request } from 'undici'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { providerRequest } from '../providers/profiles/provider-target.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { mayBeOfOtherAccount } from '../views/submission-checks-and-key-retries.ts'
import type { BatchProtocol } from './batch-protocol.ts'
import type { ResultPart } from './long-results.ts'
import { atLeastRate, type ResultsMemory } from './result-memory-and-rate.ts'
import { elementsIn } from './split-json-array.ts'

/**
 * The maximum length in bytes of a line in memory. Of a longer result, only the members that decide
 * its bill are read. Its images are not counted, so lines of files whose images could make their
 * result longer are refused (`plan-batch-file.ts`). Many choices, log probabilities or embeddings
 * of many inputs can make a result longer as well.
 */
export const LINE_BYTES_MAX = 32 * 1024 * 1024
/** The time after which a download fails if no byte arrives. */
const IDLE_MS = 120_000
const NEWLINE = 10
const EMPTY = Buffer.alloc(0)

export class LineTooLong extends Error {}

export class ResultsUnavailable extends Error {
  readonly status: number
  /** True if the object may belong to another account, whose key was replaced. */
  readonly isKeyReplaced: boolean

  constructor(status: number, isKeyReplaced = false) {
    super(`the results of a batch were answered with status ${status}`)
    this.status = status
    this.isKeyReplaced = isKeyReplaced
  }
}

/**
 * Returns the error for a caller whose download from the provider could not begin. `subject` is the
 * public id of the batch or file.
 */
export function downloadError(error: unknown, subject: string): RelayError {
  if (!(error instanceof ResultsUnavailable)) return relayError('upstream_unreachable')
  return error.isKeyReplaced
    ? relayError('key_replaced', { subject })
    : relayError('upstream_error')
}

/**
 * Reports whether an error means that the file no longer exists in the account to which it was
 * uploaded.
 */
export const isGone = (error: unknown): boolean =>
  error instanceof ResultsUnavailable && error.status === 404 && !error.isKeyReplaced

type Download = {
  /**
   * The keys to try, in this order. Any of them may belong to the account that owns the batch or
   * file.
   */
  readonly keys: readonly RelayKey[]
  /**
   * The reference of the key with which the object was submitted. If none of `keys` is this key, a
   * refusal may mean that the object belongs to another account. Omitted if all keys have access.
   */
  readonly keyRef?: string
  readonly path: string
  /** Additional headers of the request. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Starts the download of a batch's results or of a file. Returns the bytes as they arrive. The next
 * key is tried only if the provider's status may mean that the object belongs to another account
 * than the key. Rejects if no key succeeds. The `ResultsUnavailable` of such a status has
 * `isKeyReplaced` if the key of the submission was replaced.
 */
export async function openDownload(
  deps: Pick<RelayDeps, 'outbound'>,
  download: Download,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const last = download.keys.at(-1)
  for (const key of download.keys) {
    try {
      return await openWith(deps, key, download, signal)
    } catch (error) {
      const isDenied = error instanceof ResultsUnavailable && mayBeOfOtherAccount(error.status)
      if (key !== last && isDenied) continue
      const { keys, keyRef } = download
      const isReplaced = keyRef !== undefined && keys.every((one) => one.keyRef !== keyRef)
      throw isDenied && isReplaced ? new ResultsUnavailable(error.status, true) : error
    }
  }
  throw new Error('there is no key for a download')
}

async function openWith(
  { outbound }: Pick<RelayDeps, 'outbound'>,
  { target }: RelayKey,
  { path, headers: own }: Download,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const { url, headers } = providerRequest(target, path, { isUnversioned: false })
  const { statusCode, body } = await request(url, {
    dispatcher: outbound.via(target.proxy).dispatcher,
    headers: { ...headers, ...own },
    signal,
    headersTimeout: IDLE_MS,
    bodyTimeout: IDLE_MS,
  })
  if (statusCode === 200) return body
  // Destroying an unread body emits an error. Without a listener, this error would end the process.
  body.on('error', () => {}).destroy()
  throw new ResultsUnavailable(statusCode)
}

type ResultsReading = {
  readonly splits?: BatchProtocol['splits']
  /** Called with the length of each piece of the results that has arrived. */
  readonly onBytes?: (count: number) => void
}

/**
 * Yields the bytes of each result of a batch as the results arrive. A result that is too long is
 * yielded in pieces. Rejects if the download ends early or is too slow, or if `memory` can't
 * be extended for a long result.
 */
export async function* resultLines(
  deps: Pick<RelayDeps, 'outbound'>,
  download: Download & ResultsReading,
  memory: ResultsMemory,
  signal: AbortSignal,
): AsyncGenerator<ResultPart> {
  const { splits, onBytes } = download
  const arriving = atLeastRate(await openDownload(deps, download, signal))
  const body = onBytes === undefined ? arriving : counted(arriving, onBytes)
  yield* splits === undefined
    ? linesOrPiecesIn(body, LINE_BYTES_MAX, memory)
    : elementsIn(body, splits.rules, memory)
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}

/**
 * Yields the lines of a stream as they arrive. Rejects if a line exceeds `bytesMax` bytes while it
 * arrives.
 */
export async function* linesIn(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  for await (const line of linesOrPiecesIn(body, bytesMax)) {
    if (!Buffer.isBuffer(line)) throw new LineTooLong('a line of a batch is too long')
    yield line
  }
}

/**
 * Yields the lines of a stream as they arrive. At most one line is in memory. A line that exceeds
 * `bytesMax` bytes while it arrives is yielded in pieces.
 */
async function* linesOrPiecesIn(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
  memory?: ResultsMemory,
): AsyncGenerator<ResultPart> {
  let parts: Buffer[] = []
  let length = 0
  let isLong = false
  for await (const chunk of body) {
    memory?.cover(length + chunk.length)
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end))
      start = end + 1
      yield isLong ? { piece: Buffer.concat(parts), isLast: true } : Buffer.concat(parts)
      parts = []
      length = 0
      isLong = false
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length <= bytesMax && !isLong) continue
    yield { piece: Buffer.concat(parts), isLast: false }
    parts = []
    length = 0
    isLong = true
  }
  if (isLong) yield { piece: EMPTY, isLast: true }
  else if (length > 0) yield Buffer.concat(parts)
}
