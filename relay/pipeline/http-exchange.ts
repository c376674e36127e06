import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'
import { type ErrorBody, errorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'

/** One HTTP request with its response and the call id that identifies it in logs and events. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The id of the call, which is also sent in the `X-Request-Id` header. */
  readonly call: string
  /** The time of the request's arrival in unix milliseconds. */
  readonly startedAt: number
  /** The time of arrival by `performance.now()`, from which durations are measured. */
  readonly arrivedAt: number
  readonly clientIp: string
  readonly language: Language
}

export const isCallerGone = ({ response }: Exchange): boolean => response.destroyed

/** A placeholder for a call whose caller disconnected before the admission. */
export const CALLER_GONE = relayError('no_channel')

/**
 * Returns the common headers of all responses. Any web page may call the relay with a key, because
 * the relay ignores cookies.
 */
export const headersOf = (call: string): string[] => [
  'X-Request-Id',
  call,
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'X-Request-Id, Retry-After, X-Dropped-Members',
]

const NAMES_SHOWN_MAX = 32
const HEADER_NAME = /^[\w-]{1,64}$/

/** Sets a response header that names the request's members that are not sent to the provider. */
export function showDropped({ response }: Exchange, dropped: readonly string[]): void {
  if (response.headersSent) return
  const names = dropped.filter((name) => HEADER_NAME.test(name)).slice(0, NAMES_SHOWN_MAX)
  if (names.length > 0) response.setHeader('X-Dropped-Members', names.join(', '))
  else if (response.hasHeader('X-Dropped-Members')) response.removeHeader('X-Dropped-Members')
}

/** Sends an error response. `end` writes the text and ends the response. */
export function sendError(exchange: Exchange, error: RelayError, end = endNow): void {
  const { status, body } = errorBody(error, exchange.language)
  const headers: string[] = []
  if (isFinal(error, status)) headers.push('X-Should-Retry', 'false')
  if (error.retryAfter !== undefined) headers.push('Retry-After', `${error.retryAfter}`)
  if (error.code === 'method_not_allowed') headers.push('Allow', error.params.subject ?? '')
  sendJson(exchange, status, body, headers, end)
}

/**
 * Reports whether a retry would fail again. For such an error, a header tells client libraries not
 * to retry.
 */
const isFinal = ({ code }: RelayError, status: number): boolean =>
  status === 402 || code === 'idempotency_replayed'

type EndAnswer = (response: ServerResponse, text: string) => void

const endNow: EndAnswer = (response, text) => {
  response.end(text)
}

export function sendJson(
  { response, call }: Exchange,
  status: number,
  body: ErrorBody | object,
  headers: readonly string[] = [],
  end = endNow,
): void {
  if (response.headersSent || response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, [
    ...headersOf(call),
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    `${Buffer.byteLength(text)}`,
    ...headers,
  ])
  end(response, text)
}

/** Returns the text of an error event, for errors after the response has begun. */
export const errorEvent = (exchange: Exchange, code: RelayErrorCode): string =>
  `data: ${JSON.stringify(errorBody(relayError(code), exchange.language).body)}\n\n`
