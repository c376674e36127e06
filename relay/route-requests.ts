import { type Batches, isBatchPath } from './batches/batch-request-handler-and-poller.ts'
import { callAt } from './call-paths.ts'
import { type RelayError, relayError } from './canonical/relay-error.ts'
import { countTokens, countWorkAt } from './count-tokens.ts'
import { type Draining, drainingError } from './drain-running-calls.ts'
import { modelInPath } from './gemini-paths.ts'
import { listModels } from './list-models.ts'
import { lookUpQuota, quotaLookUpAt } from './look-up-quota.ts'
import { errorOfException } from './pipeline/error-of-exception.ts'
import { API_KEY_AUTHENTICATOR, type CallWork, executeCall } from './pipeline/execute-call.ts'
import { type Exchange, headersOf, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { CallRequest } from './pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { serveRealtimeEndpoint } from './realtime/create-client-secret.ts'
import { intendedPath, isPing } from './recognize-relay-requests-and-wrong-base-urls.ts'
import { serveStoredResponse, storedResponseAt } from './stored-responses/serve-stored-responses.ts'
import type { Tasks } from './tasks/task-request-handler-and-poller.ts'
import { isTaskPath } from './tasks/task-routes.ts'

/** The path of the realtime API: a websocket, and below it the endpoints for temporary keys. */
export const REALTIME_PATH = '/v1/realtime'

type RouteDeps = {
  readonly deps: RelayDeps
  readonly tasks: Tasks
  readonly batches: Batches
  readonly draining: Draining
}

/**
 * Returns an error if the relay is shutting down or the request comes from a blocked browser
 * extension; otherwise null.
 */
export function refusalOf(
  { deps, draining }: Pick<RouteDeps, 'deps' | 'draining'>,
  request: CallRequest,
): RelayError | null {
  if (draining.isBegun()) return drainingError()
  return isExtension(deps, request) ? relayError('origin_not_allowed') : null
}

/** Routes a request. An unknown path gets an error in the format that the client expects. */
export function routeRequest(
  { deps, tasks, batches, draining }: RouteDeps,
  exchange: Exchange,
): void {
  const { request } = exchange
  const { method = '', url = '' } = request
  if (method === 'OPTIONS') return preflight(exchange)
  const refusal = refusalOf({ deps, draining }, request)
  if (refusal !== null) return sendError(exchange, refusal)
  const during = (serving: Promise<void>) =>
    draining.during(
      exchange,
      serving.catch((err: unknown) => handleException(deps, exchange, err)),
    )
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  // Calls come first, because they are the most frequent.
  const work = callAt(path)
  if (work !== null) {
    if (method !== 'POST') return sendError(exchange, methodNotAllowed('POST'))
    return runCall(deps, exchange, draining, { ...work, authenticator: API_KEY_AUTHENTICATOR })
  }
  if (isTaskPath(url)) return during(tasks.handle(exchange))
  if (isBatchPath(path)) return during(batches.handle(exchange, path))
  const count = countWorkAt(path)
  if (count !== null) {
    if (method !== 'POST') return sendError(exchange, methodNotAllowed('POST'))
    return during(countTokens(deps, exchange, count))
  }
  const lookUp = quotaLookUpAt(path)
  if (lookUp !== null) {
    if (method !== 'GET') return sendError(exchange, methodNotAllowed('GET'))
    const looking = lookUpQuota(deps, exchange, lookUp)
    looking.catch((err: unknown) => handleException(deps, exchange, err))
    return
  }
  if (path === REALTIME_PATH || path.startsWith(`${REALTIME_PATH}/`)) {
    return during(serveRealtimeEndpoint(deps, exchange, path.slice(REALTIME_PATH.length + 1)))
  }
  const stored = storedResponseAt(path)
  if (stored !== null) {
    const asked = stored.methods.find((one) => one === method)
    if (asked === undefined) return sendError(exchange, methodNotAllowed(stored.methods.join(', ')))
    return during(serveStoredResponse(deps, exchange, { ...stored, method: asked }))
  }
  if (isPing(url, method)) return sendJson(exchange, 200, {})
  const model = modelInPath(path)
  // The path names a method that the relay does not support, such as Gemini's earlier `:embedText`.
  const isMethod = method === 'POST' && path.includes(':')
  if (model === undefined || isMethod) return sendError(exchange, unknownUrl(path))
  if (method !== 'GET' && method !== 'HEAD') {
    return sendError(exchange, methodNotAllowed('GET, HEAD'))
  }
  listModels(deps, exchange, model).catch((err: unknown) => handleException(deps, exchange, err))
}

/**
 * Executes a call, which counts as running until it has ended. During a shutdown, refuses the call.
 */
export function runCall(
  deps: RelayDeps,
  exchange: Exchange,
  draining: Draining,
  work: CallWork,
): void {
  if (draining.isBegun()) return sendError(exchange, drainingError())
  const call = executeCall(deps, exchange, work)
  draining.during(
    exchange,
    call.catch((err: unknown) => handleException(deps, exchange, err)),
  )
}

/**
 * Returns the error for an unknown URL. The error names the path that the client probably means, if
 * there is one.
 */
function unknownUrl(path: string): RelayError {
  const subject = intendedPath(path)
  return subject === null ? relayError('not_found') : relayError('wrong_base_url', { subject })
}

const methodNotAllowed = (method: string) => relayError('method_not_allowed', { subject: method })

const isExtension = ({ views }: RelayDeps, { headers }: CallRequest): boolean =>
  headers.origin !== undefined &&
  views.options.options.isBrowserExtensionBlocked &&
  /^[a-z-]+-extension:\/\//i.test(headers.origin)

function preflight(exchange: Exchange): void {
  const { request, response } = exchange
  const requestedHeaders = request.headers['access-control-request-headers']
  response.writeHead(204, [
    ...headersOf(exchange),
    'Access-Control-Allow-Methods',
    'GET, POST, DELETE, OPTIONS',
    'Access-Control-Allow-Headers',
    requestedHeaders ?? 'Authorization, Content-Type',
    'Access-Control-Max-Age',
    '86400',
  ])
  response.end()
}

/** Answers a request whose handler has thrown an exception (see `errorOfException`). */
function handleException({ log }: RelayDeps, exchange: Exchange, err: unknown): void {
  sendError(exchange, errorOfException(log, exchange.call, err))
  if (!exchange.response.writableEnded) exchange.response.destroy()
}
