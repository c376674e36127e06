import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Language } from '#relay/canonical/relay-errors.ts'
import { type ErrorBody, errorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'

/** One HTTP request and its answer, with the id it goes by everywhere. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The call's id, and the request id on the answer. */
  readonly call: string
  /** Unix milliseconds. */
  readonly startedAt: number
  /** The same moment by `performance.now()`: durations are measured from here. */
  readonly arrivedAt: number
  readonly clientIp: string
  readonly language: Language
}

/** Any page may call the relay with a key of its own; cookies are never looked at. */
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

/** Names the members of the request that the provider does not get, on the answer to come. */
export function showDropped({ response }: Exchange, dropped: readonly string[]): void {
  if (response.headersSent) return
  const names = dropped.filter((name) => HEADER_NAME.test(name)).slice(0, NAMES_SHOWN_MAX)
  if (names.length > 0) response.setHeader('X-Dropped-Members', names.join(', '))
  else if (response.hasHeader('X-Dropped-Members')) response.removeHeader('X-Dropped-Members')
}

/** `end`: how the answer is ended once its words are known. */
export function sendError(exchange: Exchange, error: RelayError, end = endNow): void {
  const { status, body } = errorBody(error, exchange.language)
  const headers: string[] = []
  if (isFinal(error, status)) headers.push('X-Should-Retry', 'false')
  if (error.retryAfter !== undefined) headers.push('Retry-After', `${error.retryAfter}`)
  if (error.code === 'method_not_allowed') headers.push('Allow', error.params.subject ?? '')
  sendJson(exchange, status, body, headers, end)
}

/**
 * Whether a retry would get the same error again. Client libraries retry such a status unless they
 * are told not to.
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

/** The words of a failure that shows only after the answer began: an event of the stream. */
export const errorEvent = (exchange: Exchange, code: RelayErrorCode): string =>
  `data: ${JSON.stringify(errorBody(relayError(code), exchange.language).body)}\n\n`
