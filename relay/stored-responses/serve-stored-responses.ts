import { request as sendRequest } from 'undici'
import { readBoundedBody } from '#infra/outbound/read-bounded-body.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { withModel } from '../dialects/model-name-in-answer.ts'
import { RESPONSES_ERRORS, redactedResponse } from '../dialects/openai-responses/response-errors.ts'
import { acquirePermit, CALLS_NO_MODEL, type CallPermit } from '../pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { callErrorAnswer, sendCallError } from '../pipeline/failed-call-answer.ts'
import { type Exchange, headersOf, queryIn, sendError } from '../pipeline/http-exchange.ts'
import { retryAfterIn } from '../pipeline/read-retry-delay-and-request-id.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { ANSWER_BYTES_MAX } from '../pipeline/upstream-attempt.ts'
import { responsesPathOf } from '../providers/profiles/provider-target.ts'
import { confidentialTo, type RelayChannel, type RelayKey } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parse-channel-rules.ts'
import { NO_STORE } from './find-channel-and-key-of-stored-input.ts'
import { contentOwnerOf } from './response-content-store.ts'
import { type StoredResponseRequest, serveConvertedResponse } from './serve-converted-response.ts'

/** The maximum time that a provider may take to answer. */
const TOTAL_MS = 30_000

const responseNotFound = (id: string): RelayError =>
  relayError('response_not_found', { subject: id.slice(0, 128) })

/** The methods of the paths below `/v1/responses/{id}`. */
const METHODS = { '': ['GET', 'DELETE'], input_items: ['GET'], cancel: ['POST'] } as const
const PATH = /^\/v1\/responses\/([^/]+)(?:\/(input_items|cancel))?$/

/** Returns the response at a path and the methods of the path. Returns null for any other path. */
export function storedResponseAt(path: string): {
  readonly id: string
  readonly part: StoredResponseRequest['part']
  readonly methods: readonly StoredResponseRequest['method'][]
} | null {
  const [match, id = '', part = ''] = PATH.exec(path) ?? []
  if (match === undefined) return null
  const name = part as keyof typeof METHODS
  return { id, part: name === '' ? null : name, methods: METHODS[name] }
}

type Found = {
  readonly key: RelayKey
  readonly channel: RelayChannel
  readonly model: string
}

/**
 * Serves the requests about a response that was created with the token of the request: its content,
 * its deletion, its input and its cancellation. The gateway stores a converted response itself. For
 * any other response, a request is sent to its provider, with the key that created the response. A
 * response is stored when it has ended, so a cancellation stops nothing: to stop a response, its
 * caller closes its stream. Nothing is generated, so nothing is charged. The request counts towards
 * the limits of calls.
 */
export async function serveStoredResponse(
  deps: RelayDeps,
  exchange: Exchange,
  asked: Omit<StoredResponseRequest, 'query'>,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const query = queryIn(request.url ?? '')
  const { method, part } = asked
  // The client expects a stream of events, but the gateway can only answer with JSON.
  if (method === 'GET' && part === null && query.get('stream') === 'true') {
    return sendError(exchange, relayError('parameter_not_supported', { param: 'stream' }))
  }
  const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
  if (isRelayError(permit)) return sendError(exchange, permit)
  await serveWithPermit(deps, exchange, { caller, permit }, { ...asked, query })
}

async function serveWithPermit(
  deps: RelayDeps,
  exchange: Exchange,
  { caller, permit }: { readonly caller: Caller; readonly permit: CallPermit },
  asked: StoredResponseRequest,
): Promise<void> {
  const { method, id } = asked
  let isSuccess = false
  try {
    const converted = await serveConvertedResponse(deps, caller, asked)
    if (converted !== null) {
      if (isRelayError(converted)) return sendError(exchange, converted)
      isSuccess = true
      return sendBytes(exchange, converted)
    }
    const found = await find(deps, caller, id)
    if (isRelayError(found)) return sendError(exchange, found)
    const { tokenId } = caller.token
    isSuccess = await forward(deps, exchange, found, asked)
    if (isSuccess && method === 'DELETE') await deps.storedResponses.remove(tokenId, id)
  } finally {
    permit.release({ isSuccess, tokens: 0 })
  }
}

/**
 * Finds the key that created the response. Returns an error if no response of this token has the
 * id, if the channel or the key no longer exists, or if the store can't be read.
 */
async function find(
  { storedResponses, views }: RelayDeps,
  caller: Caller,
  id: string,
): Promise<Found | RelayError> {
  const missing = responseNotFound(id)
  const rows = await storedResponses.find(contentOwnerOf(caller), [id]).catch(() => null)
  if (rows === null) return NO_STORE
  const [stored] = rows
  if (stored?.responseId !== id) return missing
  const channel = views.channels.find(stored.channelId)
  const key = channel?.keys.find(({ keyRef }) => keyRef === stored.keyRef)
  if (channel === undefined || key === undefined) return missing
  return { key, channel, model: stored.model }
}

/** Sends the request to the provider, and its answer to the caller. Returns true on success. */
async function forward(
  deps: RelayDeps,
  exchange: Exchange,
  found: Found,
  asked: StoredResponseRequest,
): Promise<boolean> {
  const { channel, model } = found
  const { target } = found.key
  const { method, id, part } = asked
  const path = responsesPathOf(target, id)
  if (path === null) {
    sendError(exchange, responseNotFound(id))
    return false
  }
  try {
    const { statusCode, headers, body } = await sendRequest(
      `${target.origin}${withQuery(part === null ? path : belowPath(path, part), queryFor(asked))}`,
      {
        method,
        body: method === 'POST' ? '{}' : null,
        dispatcher: deps.outbound.via(target.proxy).poolFor(target.origin),
        headers: target.headers as string[],
        signal: AbortSignal.timeout(TOTAL_MS),
      },
    )
    const bytes = await readBoundedBody(body, ANSWER_BYTES_MAX)
    const isSuccess = statusCode === 200
    // A list of items names no model of the provider.
    if (isSuccess && part === 'input_items') sendBytes(exchange, bytes)
    else if (isSuccess) {
      sendBytes(exchange, withModel(redactedResponse(bytes, confidentialTo(channel)), model))
    } else {
      const retryAfterMs = retryAfterIn(headers, deps.now())
      sendProviderError(deps, exchange, found, { status: statusCode, body: bytes, retryAfterMs })
    }
    return isSuccess
  } catch {
    sendError(exchange, relayError('upstream_unreachable'))
    return false
  }
}

const INCLUDED_MAX = 16
const INCLUDED = /^[\w.]{1,64}$/

/** The parameters of a list of items, each with its valid values. */
const LIST_PARAMETERS = { after: /^[\w-]{1,128}$/, limit: /^\d{1,3}$/, order: /^(?:asc|desc)$/ }

/**
 * Returns a query with the valid parameters of the caller's query. The parameters `include` name
 * additional members of the response or of its items.
 */
function queryFor({ method, part, query }: StoredResponseRequest): string {
  if (method !== 'GET') return ''
  const names = [...query.getAll('include[]'), ...query.getAll('include')]
  const valid = names.filter((name) => INCLUDED.test(name)).slice(0, INCLUDED_MAX)
  const ofList = Object.entries(part === null ? {} : LIST_PARAMETERS).flatMap(([name, form]) => {
    const value = query.get(name)
    return value !== null && form.test(value) ? [`${name}=${value}`] : []
  })
  return [...valid.map((name) => `include[]=${name}`), ...ofList].join('&')
}

function belowPath(path: string, part: string): string {
  const [root, query] = path.split('?')
  return `${root}/${part}${query === undefined ? '' : `?${query}`}`
}

const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`

/** Sends a provider's error as that of a call, with the status to which the channel maps it. */
function sendProviderError(
  { views }: RelayDeps,
  exchange: Exchange,
  { channel, model }: Found,
  answer: { readonly status: number; readonly body: Buffer; readonly retryAfterMs: number },
): void {
  const name = upstreamModelOf(channel.terms, channel.rules, model)
  const upstreamModel = name === model ? null : name
  const request = { isStream: false, format: { errors: RESPONSES_ERRORS } }
  const { isUpstreamErrorHidden: isHidden } = views.options.options
  const context = { isHidden, isCallerGone: false, unserved: null, errors: RESPONSES_ERRORS }
  const shown = callErrorAnswer(
    { channel, conversion: null, upstreamModel, request },
    { kind: 'failed', error: 'status', ...answer },
    { ...context, call: exchange.call },
  )
  sendCallError(exchange, shown)
}

function sendBytes(exchange: Exchange, bytes: Buffer): void {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return
  const type = ['Content-Type', 'application/json', 'Content-Length', `${bytes.length}`]
  response.writeHead(200, [...headersOf(exchange), ...type])
  response.end(bytes)
}
