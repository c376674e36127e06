import { request as sendRequest } from 'undici'
import { readBoundedBody } from '#infra/outbound/read-bounded-body.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { withModel } from '../dialects/model-name-in-answer.ts'
import { RESPONSES_ERRORS, redactedResponse } from '../dialects/openai-responses/response-errors.ts'
import { acquirePermit, CALLS_NO_MODEL, type CallPermit } from '../pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { accountCodeIn } from '../pipeline/detect-provider-account-error.ts'
import { retryHeaders } from '../pipeline/failed-call-answer.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import { retryAfterIn } from '../pipeline/read-retry-delay-and-request-id.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { ANSWER_BYTES_MAX } from '../pipeline/upstream-attempt.ts'
import { responsesPathOf } from '../providers/profiles/provider-target.ts'
import { confidentialTo, type RelayKey } from '../views/channel-view.ts'
import { NO_STORE } from './find-channel-and-key-of-stored-input.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import { contentOwnerOf } from './response-content-store.ts'
import { openCompressed } from './seal-compressed-text.ts'

/** The maximum time that a provider may take to answer. */
const TOTAL_MS = 30_000

const responseNotFound = (id: string): RelayError =>
  relayError('response_not_found', { subject: id.slice(0, 128) })

type Method = 'GET' | 'DELETE'
type Found = {
  readonly key: RelayKey
  readonly confidential: readonly string[]
  readonly model: string
}

/**
 * Serves `GET` and `DELETE /v1/responses/{id}` for a response that was created with the token of
 * the request. The gateway stores a converted response itself. For any other response, a request is
 * sent to its provider, with the key that created the response. Nothing is generated, so nothing is
 * charged. The request counts towards the limits of calls.
 */
export async function serveStoredResponse(
  deps: RelayDeps,
  exchange: Exchange,
  method: Method,
  id: string,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  // The client expects a stream of events, but the gateway can only answer with JSON.
  if (method === 'GET' && queryIn(request.url ?? '').get('stream') === 'true') {
    return sendError(exchange, relayError('parameter_not_supported', { param: 'stream' }))
  }
  const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
  if (isRelayError(permit)) return sendError(exchange, permit)
  await serveWithPermit(deps, exchange, caller, { method, id, permit })
}

async function serveWithPermit(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  { method, id, permit }: { method: Method; id: string; permit: CallPermit },
): Promise<void> {
  let isSuccess = false
  try {
    const converted = await serveConvertedResponse(deps, caller, method, id)
    if (converted !== null) {
      if (isRelayError(converted)) return sendError(exchange, converted)
      isSuccess = true
      return sendBytes(exchange, converted)
    }
    const found = await find(deps, caller, id)
    if (isRelayError(found)) return sendError(exchange, found)
    const { tokenId } = caller.token
    isSuccess = await forward(deps, exchange, found, { method, id })
    if (isSuccess && method === 'DELETE') await deps.storedResponses.remove(tokenId, id)
  } finally {
    permit.release({ isSuccess, tokens: 0 })
  }
}

/**
 * Loads or deletes a response that the gateway stores. Returns the JSON for the caller, or an error
 * if the store can't be read. Returns null if the gateway stores no response with this id for this
 * token.
 */
async function serveConvertedResponse(
  { storedResponses: { contents }, vault }: RelayDeps,
  caller: Caller,
  method: Method,
  id: string,
): Promise<Buffer | RelayError | null> {
  if (convertedResponseIdIn(id) !== id) return null
  const owner = contentOwnerOf(caller)
  const { tokenId, userId } = owner
  if (method === 'DELETE') {
    const isRemoved = await contents.remove(tokenId, id).catch(() => null)
    if (isRemoved === null) return NO_STORE
    return isRemoved ? bytesOf({ id, object: 'response', deleted: true }) : null
  }
  const content = await contents.loadResponse(owner, id).catch(() => NO_STORE)
  if (content === null || isRelayError(content)) return content
  const response = await openCompressed(vault, userId, content.response)
  const output = await openCompressed(vault, userId, content.output)
  if (response === null || output === null) return null
  return bytesOf({ ...JSON.parse(response), output: JSON.parse(output) })
}

const bytesOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))

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
  return { key, confidential: confidentialTo(channel), model: stored.model }
}

/** Sends the request to the provider, and its answer to the caller. Returns true on success. */
async function forward(
  deps: RelayDeps,
  exchange: Exchange,
  { key: { target }, confidential, model }: Found,
  { method, id }: { readonly method: Method; readonly id: string },
): Promise<boolean> {
  const path = responsesPathOf(target, id)
  const query = method === 'GET' ? includedIn(exchange.request.url ?? '') : ''
  if (path === null) {
    sendError(exchange, responseNotFound(id))
    return false
  }
  try {
    const { statusCode, headers, body } = await sendRequest(
      `${target.origin}${withQuery(path, query)}`,
      {
        method,
        dispatcher: deps.outbound.via(target.proxy).poolFor(target.origin),
        headers: target.headers as string[],
        signal: AbortSignal.timeout(TOTAL_MS),
      },
    )
    const bytes = await readBoundedBody(body, ANSWER_BYTES_MAX)
    const isSuccess = statusCode === 200
    if (isSuccess) sendBytes(exchange, withModel(redactedResponse(bytes, confidential), model))
    else {
      const retryAfterMs = retryAfterIn(headers, deps.now())
      sendProviderError(deps, exchange, { statusCode, bytes, confidential, retryAfterMs })
    }
    return isSuccess
  } catch {
    sendError(exchange, relayError('upstream_unreachable'))
    return false
  }
}

const INCLUDED_MAX = 16
const INCLUDED = /^[\w.]{1,64}$/

/**
 * Returns a query with the valid `include` parameters of the URL. These parameters name additional
 * members of the response.
 */
function includedIn(url: string): string {
  const query = queryIn(url)
  const names = [...query.getAll('include[]'), ...query.getAll('include')]
  const valid = names.filter((name) => INCLUDED.test(name)).slice(0, INCLUDED_MAX)
  return valid.map((name) => `include[]=${name}`).join('&')
}

const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`

function sendProviderError(
  { views }: RelayDeps,
  exchange: Exchange,
  {
    statusCode,
    bytes,
    confidential,
    retryAfterMs,
  }: {
    statusCode: number
    bytes: Buffer
    confidential: readonly string[]
    retryAfterMs: number
  },
): void {
  // A rejection of the site's key must not look like a rejection of the caller's key.
  if ([401, 402, 403].includes(statusCode) || accountCodeIn(bytes) !== null) {
    return sendError(exchange, relayError('upstream_account'))
  }
  const { isUpstreamErrorHidden: isHidden } = views.options.options
  const texts = { isHidden, isOwnFormat: true, confidential }
  const error = RESPONSES_ERRORS.providerErrorBody(bytes, statusCode, texts, exchange.call)
  const status = statusCode >= 400 && statusCode <= 599 ? statusCode : 502
  sendJson(exchange, status, error, retryHeaders(retryAfterMs))
}

function sendBytes(exchange: Exchange, bytes: Buffer): void {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return
  const type = ['Content-Type', 'application/json', 'Content-Length', `${bytes.length}`]
  response.writeHead(200, [...headersOf(exchange), ...type])
  response.end(bytes)
}
