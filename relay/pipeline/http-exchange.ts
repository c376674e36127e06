import type { Logger } from 'pino'
import { timedUuid } from '#infra/random-uuids.ts'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'
import type { ErrorFormat, SentEvents } from '#relay/dialects/error-format.ts'
import type { JsonArrayStream } from '#relay/dialects/gemini/write-stream-as-json-array.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { errorInCallerRequest } from '../stored-responses/path-in-caller-request.ts'
import type { CallRequest, CallResponse } from './http-request-and-response-types.ts'

/** One HTTP request with its response and the call id that identifies it in logs and events. */
export type Exchange = {
  readonly request: CallRequest
  readonly response: CallResponse
  /** The id of the call, which is also sent in the `X-Request-Id` header. */
  readonly call: string
  /** The time of the request's arrival in Unix milliseconds. */
  readonly startedAt: number
  /**
   * The time of the request's arrival by `performance.now()`. Durations are measured from this
   * time.
   */
  readonly arrivedAt: number
  readonly clientIp: string
  readonly language: Language
  /** The format of the errors that the caller receives. */
  readonly errors: ErrorFormat
  /**
   * Renders the events of a stream as a JSON array, for a caller that expects one; otherwise null.
   */
  readonly jsonArray: JsonArrayStream | null
  /**
   * The data of the events sent so far that an error event must repeat or continue. Missing or null
   * if nothing was sent yet, or if the format's error events repeat nothing.
   */
  sent?: SentEvents | null
  /**
   * The number of stored items that the gateway has inserted before the items of the caller's own
   * input. Errors and losses name items by their indexes in the caller's own input.
   */
  readonly insertedItems?: number
  /** The logger. Null in a process without a relay, which logs no calls. */
  readonly log: Logger | null
}

/** Reports whether the connection to the caller is closed. */
export const isCallerGone = ({ response }: Pick<Exchange, 'response'>): boolean =>
  response.destroyed

/** Returns a signal that is aborted as soon as the connection to the caller is closed. */
export function signalOfCallerGone({ response }: Pick<Exchange, 'response'>): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (response.destroyed) gone.abort()
  return gone.signal
}

/**
 * A placeholder for the error of a call whose caller has disconnected. It is never sent.
 */
export const CALLER_GONE = relayError('no_channel')

/** Returns the query parameters of a URL without a host. */
export const queryIn = (url = ''): URLSearchParams => new URLSearchParams(url.split('?')[1] ?? '')

/**
 * The response headers that scripts in a browser may read. A few standard headers are always
 * readable.
 */
const EXPOSED_HEADERS = [
  ...['X-Request-Id', 'Request-Id', 'Retry-After', 'Retry-After-Ms', 'X-Should-Retry'],
  ...['X-Dropped-Members', 'X-Conversion-Loss'],
].join(', ')

/**
 * Returns the headers that every response has. They allow any web page to call the relay with a
 * key. This is safe, because the relay ignores cookies.
 */
export const headersOf = ({ call, errors }: Pick<Exchange, 'call' | 'errors'>): string[] => [
  'X-Request-Id',
  call,
  ...(errors.requestIdHeader === undefined ? [] : [errors.requestIdHeader, call]),
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED_HEADERS,
]

const NAMES_SHOWN_MAX = 20
/** Matches a name such as `messages[2].parts[0] (audio)` or `anthropic-beta: fast-mode-1`. */
const VISIBLE_NAME = /^[\w.:[\]() -]{1,96}$/

/**
 * Sets a response header that lists names, unless the response has begun. `X-Dropped-Members` names
 * the members of the request that were not sent. `X-Conversion-Loss` names the losses of a
 * conversion: members of the request for which the provider's format has no equivalent, and
 * contents of the answer for which the caller's format has none. At most `NAMES_SHOWN_MAX` short
 * names are listed. All other names are only counted, to keep the header short: `(12 more)`. If
 * `members` is empty, the header is removed.
 */
export function setNameListHeader(
  { response }: Exchange,
  header: 'X-Dropped-Members' | 'X-Conversion-Loss',
  members: readonly string[],
): void {
  if (response.headersSent) return
  const names = visibleNames(members, NAMES_SHOWN_MAX)
  const others = members.length - names.length
  const shown = others === 0 ? names : [...names, `(${others} more)`]
  if (shown.length > 0) response.setHeader(header, shown.join(', '))
  else if (response.hasHeader(header)) response.removeHeader(header)
}

/** Returns the first `most` names that are short and consist of ordinary characters. */
export function visibleNames(members: readonly string[], most: number): readonly string[] {
  const names: string[] = []
  for (const name of members) {
    if (names.length === most) break
    if (VISIBLE_NAME.test(name)) names.push(name)
  }
  return names
}

/** Returns `Retry-After` for an error that has a delay, and `Allow` for a wrong method. */
export const headersOfError = ({ code, params, retryAfter }: RelayError): string[] => [
  ...(retryAfter === undefined ? [] : ['Retry-After', `${retryAfter}`]),
  ...(code === 'method_not_allowed' ? ['Allow', params.subject ?? ''] : []),
]

/** Sends an error response. `end` writes the response body and ends the response. */
export function sendError(exchange: Exchange, error: RelayError, end?: EndAnswer): void {
  const shown = errorInCallerRequest(error, exchange.insertedItems)
  const { status, body } = exchange.errors.errorBody(shown, exchange.language, exchange.call)
  const headers = headersOfError(error)
  if (isRetryPointless(error, status)) headers.push('X-Should-Retry', 'false')
  if (error.code === 'websocket_required')
    headers.push('Upgrade', 'websocket', 'Connection', 'Upgrade')
  traceError(exchange, error, status)
  sendJson(exchange, status, body, headers, end)
}

/**
 * Logs an error of the gateway at the log level debug, including an error that is sent before the
 * caller is authenticated.
 */
export function traceError({ log, call }: Exchange, { code }: RelayError, status: number): void {
  if (log?.isLevelEnabled('debug')) log.debug({ call, code, status }, 'an error was sent')
}

/**
 * Reports whether a retry of the request would fail again. A header then tells client libraries not
 * to retry.
 */
const isRetryPointless = ({ code }: RelayError, status: number): boolean =>
  status === 402 || code === 'idempotency_replayed' || code === 'idempotency_submitted'

/** Writes the body of a response and ends the response. */
export type EndAnswer = (response: CallResponse, text: string) => void

const endNow: EndAnswer = (response, text) => {
  response.end(text)
}

/**
 * Sends a JSON response, unless a response has begun. `end` writes the body and ends the response.
 */
export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: readonly string[] = [],
  end = endNow,
): void {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return
  // A caller that expects a stream as a JSON array recognizes an error only inside an array.
  const text = JSON.stringify(exchange.jsonArray === null ? body : [body])
  response.writeHead(status, [
    ...headersOf(exchange),
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    `${Buffer.byteLength(text)}`,
    ...headers,
  ])
  end(response, text)
}

/** Returns the text of a stream event with an error, for a response that has already begun. */
export const errorEvent = (
  { errors, language, call, sent, insertedItems }: Exchange,
  error: RelayError,
): string => {
  const shown = errorInCallerRequest(error, insertedItems)
  return errors.errorEvent(errors.errorBody(shown, language, call).body, sent)
}

/** Returns a new id for a call that arrives at `now`, in Unix milliseconds. Ids sort by time. */
export const newCallId = (now: number): string => timedUuid(now)
