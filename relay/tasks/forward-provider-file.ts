import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Exchange, headersOf } from '#relay/pipeline/http-exchange.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import {
  discard,
  type FileOutcome,
  type OpenOptions,
  type ProviderFile,
} from './open-provider-file.ts'

/** The limits of one transfer of a file from its provider to the caller. */
export type TransferLimits = {
  /**
   * The time in milliseconds after which the transfer ends if no byte arrives or the caller reads
   * none.
   */
  readonly stallMs: number
  readonly totalMs: number
  /** The maximum size in bytes. Null sets no limit. */
  readonly bytesMax: number | null
}

/** The limits for pictures. A provider delivers a picture within seconds. */
export const PICTURE_TRANSFER: TransferLimits = {
  stallMs: 10_000,
  totalMs: 60_000,
  bytesMax: 64 * 1024 * 1024,
}

/**
 * The limits for videos. Videos have no maximum size. Like pictures, they are streamed and never in
 * memory as a whole. The time limits are longer, because a reader with a slow connection needs more
 * time.
 */
export const VIDEO_TRANSFER: TransferLimits = {
  stallMs: 30_000,
  totalMs: 1_800_000,
  bytesMax: null,
}

/** The time in seconds after which the caller is asked to retry if the provider names no time. */
const RETRY_S = 5
const RETRY_S_MAX = 300

/**
 * Returns the error for a file that could not be opened. `gone` is the error for a file that
 * definitely does not exist. Any other failure can be temporary, so the error asks the caller to
 * retry.
 */
export function fileError(
  outcome: Exclude<FileOutcome, { readonly kind: 'open' }>,
  gone: RelayError,
): RelayError {
  if (outcome.kind === 'gone') return gone
  const seconds = outcome.kind === 'failed' ? Math.ceil(outcome.retryAfterMs / 1_000) : 0
  const retryAfter = Math.min(seconds === 0 ? RETRY_S : seconds, RETRY_S_MAX)
  return relayError('file_fetch_failed', { retryAfter })
}

/**
 * Opens a file. Aborts `gone` if the file is not open after twice `stallMs`. This time is for all
 * requests together: the provider may redirect, or may have to be asked for a new address of the
 * file.
 */
export async function openInTime(
  { stallMs }: TransferLimits,
  gone: AbortController,
  open: (options: Pick<OpenOptions, 'signal' | 'waitMs'>) => Promise<FileOutcome>,
): Promise<FileOutcome> {
  const late = setTimeout(() => gone.abort(), 2 * stallMs)
  try {
    return await open({ signal: gone.signal, waitMs: stallMs })
  } finally {
    clearTimeout(late)
  }
}

/** Answers a request for a range that the file does not have. */
export function sendUnsatisfiableRange(exchange: Exchange, contentRange: string | null): void {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return
  const range = contentRange === null ? [] : ['Content-Range', contentRange]
  response.writeHead(416, [...headersOf(exchange), ...range, 'Content-Length', '0'])
  response.end()
}

/** A file to send, and the limits of its transfer. */
export type FileToSend = ProviderFile & {
  readonly limits: TransferLimits
  /** The time in seconds for which the caller may cache the file. */
  readonly maxAgeS: number
  /** Identifies the file in the log. */
  readonly origin: { readonly task: string; readonly channelId: number | undefined }
}

/**
 * Sends a file to the caller, or only its headers if the method of the request is `HEAD`. `gone` is
 * aborted when the caller disconnects. This function also aborts `gone` when a time limit is
 * exceeded. Another failure is logged, because the caller sees only that the file is cut.
 */
export async function sendFile(
  exchange: Exchange,
  { limits: { stallMs, totalMs, bytesMax }, origin, ...file }: FileToSend,
  gone: AbortController,
): Promise<void> {
  const { request, response } = exchange
  const { signal } = gone
  if (response.destroyed) return discard(file.body)
  const stalled = setTimeout(() => gone.abort(), stallMs)
  const late = setTimeout(() => gone.abort(), totalMs)
  try {
    response.writeHead(file.status, [
      ...[...headersOf(exchange), 'Content-Type', file.type, ...file.headers],
      ...['Cache-Control', `private, max-age=${file.maxAgeS}`],
      ...['X-Content-Type-Options', 'nosniff'],
      ...['Content-Security-Policy', "default-src 'none'; sandbox"],
      ...['Cross-Origin-Resource-Policy', 'cross-origin'],
    ])
    // The provider is asked with GET in any case, because a signed link allows only this method.
    if (request.method === 'HEAD') {
      response.end()
      return discard(file.body)
    }
    const forwarder = limitedForwarder(bytesMax, () => stalled.refresh())
    let isLogged = false
    const onError = (err: Error): void => {
      // A failure of one stream destroys the others, and only the first failure is the cause.
      if (isLogged || signal.aborted || response.destroyed) return
      isLogged = true
      exchange.log?.warn({ err, ...origin }, 'the file of a task was cut')
    }
    for (const stream of [file.body, forwarder]) stream.once('error', onError)
    await pipeline(file.body, forwarder, response, { signal }).catch(() => response.destroy())
  } finally {
    clearTimeout(stalled)
    clearTimeout(late)
  }
}

/**
 * Returns a stream that forwards at most `bytesMax` bytes, fails if there are more, and calls
 * `onPart` for every chunk.
 */
function limitedForwarder(bytesMax: number | null, onPart: () => void): Transform {
  let left = bytesMax ?? Number.POSITIVE_INFINITY
  return new Transform({
    transform: (part: Buffer, _encoding, done) => {
      onPart()
      left -= part.length
      if (left < 0) done(new Error('too large'))
      else done(null, part)
    },
  })
}
