import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Core } from '#infra/core-dependencies.ts'
import { createGauges, type Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import {
  type Batches,
  type BatchOverrides,
  isBatchPath,
  startBatches,
} from './batches/batch-routes-and-poller.ts'
import { callAt, errorFormatOf } from './call-paths.ts'
import { type RelayError, relayError } from './canonical/relay-error.ts'
import { languageOf } from './canonical/relay-error-catalogue.ts'
import { createChannelActions, describeChannelActions } from './channel-actions/routes.ts'
import { countTokens, countWorkAt } from './count-tokens.ts'
import { createRelayDeps, type DepsOverrides } from './create-relay-deps.ts'
import { startDeletions } from './delete-expired-rows.ts'
import { OPENAI_CHAT } from './dialects/openai-chat/chat-request.ts'
import { OPENAI_RESPONSES } from './dialects/openai-responses/responses-request.ts'
import { createDraining, type Draining, drainingError } from './drain-running-calls.ts'
import type { FindExpired } from './expired-call-detector.ts'
import { startSweeper } from './expired-call-sweeper.ts'
import { jsonArrayFor, modelInPath } from './gemini-paths.ts'
import { listModels } from './list-models.ts'
import { lookUpQuota, quotaLookUpAt } from './look-up-quota.ts'
import { errorOfException } from './pipeline/error-of-exception.ts'
import { API_KEY_AUTHENTICATOR, type CallWork, executeCall } from './pipeline/execute-call.ts'
import {
  clientIpReader,
  type Exchange,
  headersOf,
  newCallId,
  sendError,
  sendJson,
} from './pipeline/http-exchange.ts'
import type { CallRequest, CallResponse } from './pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { sessionAuthenticator } from './playground/playground-request.ts'
import { addPlayground, type Playground } from './playground/playground-route.ts'
import { serveRealtimeEndpoint } from './realtime/create-client-secret.ts'
import { createRealtimeSockets, type RealtimeSockets } from './realtime/realtime-sockets.ts'
import { intendedPath, isPing, isRelayPath } from './relay-paths.ts'
import { reportCallsInFlight } from './report-calls-in-flight-per-channel.ts'
import {
  createResponsesSockets,
  type ResponsesSockets,
} from './responses-socket/responses-sockets.ts'
import { serveStoredResponse } from './stored-responses/stored-response-routes.ts'
import { sendTaskError } from './tasks/send-task-errors-and-acceptance.ts'
import {
  startTasks,
  type TaskOverrides,
  type Tasks,
} from './tasks/task-request-handler-and-poller.ts'
import { isTaskPath, kindOf } from './tasks/task-routes.ts'

/** The URL paths that the relay serves directly, without the router of the management API. */
export type RelayPaths = {
  readonly matches: (url: string, method?: string) => boolean
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Opens a websocket, or answers the request for it. Null if the process has no relay. */
  readonly upgrade: ResponsesSockets['upgrade'] | null
  /** Adds the relay's routes to the management API's app: channel actions and the playground. */
  readonly addActions: (app: FastifyInstance, freshness: Pick<Freshness, 'waitFor'>) => void
}

export type Relay = RelayPaths & {
  /**
   * Returns the number of running chat calls, including those that are still being uploaded or
   * admitted, and of responses that are being cancelled at their providers.
   */
  readonly inFlight: () => number
  /**
   * Refuses new calls and waits up to `graceMs` for the running calls. Calls that are still running
   * are then ended.
   */
  readonly drain: (graceMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

export type RelayOverrides = DepsOverrides &
  BatchOverrides & {
    readonly findExpired?: FindExpired
    readonly gauges?: Gauges
    readonly tasks?: TaskOverrides
    readonly deleteEveryMs?: number
  }

/** Starts the relay. Resolves when keys, channels and prices are loaded and current. */
export async function startRelay(core: Core, overrides: RelayOverrides = {}): Promise<Relay> {
  const deps = await createRelayDeps(core, overrides)
  const gauges = overrides.gauges ?? (await createGauges(core.pg))
  const stopReporting = reportCallsInFlight({ ...deps, gauges })
  const { leaseMs, uploadStallMs } = deps.deadlines
  const sweeper = startSweeper(core, deps.claimedCalls, leaseMs, overrides.findExpired)
  const tasks = await startTasks(core, deps, overrides.tasks ?? {})
  const batches = startBatches(core, deps, overrides)
  const deletions = startDeletions(core, deps, overrides.deleteEveryMs)
  const channelActions = createChannelActions(core, deps)
  const draining = createDraining({
    abort: () => {
      for (const { member: call } of deps.runningCalls) call.abort('draining')
      deps.cancellations.limitForShutdown()
    },
    cancellations: deps.cancellations,
    uploadStallMs,
  })
  const clientIpOf = clientIpReader(core.config.trustProxy)
  const openExchange = (request: CallRequest, response: CallResponse): Exchange =>
    exchangeOf(request, response, core.now(), clientIpOf, core.log)
  const sockets = socketsOf(core, deps, draining, openExchange)
  const realtime = realtimeOf(core, deps, draining, openExchange)
  return {
    matches: isRelayPath,
    upgrade: (request, socket, head) => {
      const isRealtime = request.url?.split('?')[0] === REALTIME_PATH
      const { upgrade } = isRealtime ? realtime : sockets
      upgrade(request, socket, head)
    },
    handle: (request, response) => {
      const exchange = openExchange(request, response)
      // On a full disk, the call is refused here. An append to the event store would fail only
      // after its deadline.
      if (request.method === 'POST' && !core.writes.isWritable()) refuseWrite(exchange)
      else route({ deps, tasks, batches, draining }, exchange)
    },
    addActions: (app, freshness) => {
      channelActions.add(app, freshness)
      addPlayground(app, playgroundOf(core, deps, draining, openExchange))
    },
    inFlight: draining.inFlight,
    drain: async (graceMs) => {
      const calls = sockets.closeDuring(draining.drain(graceMs))
      await Promise.all([calls, realtime.drain(graceMs)])
    },
    close: async () => {
      clearInterval(deletions)
      sockets.close()
      realtime.close()
      await channelActions.stop()
      await tasks.stop()
      await batches.stop()
      deps.timer.close()
      await Promise.all([stopReporting(), sweeper.stop(), deps.views.stop(), deps.counter.close()])
      await Promise.all([deps.outbound.close(), deps.publicOutbound.close()])
    },
  }
}

function playgroundOf(
  { writes }: Core,
  deps: RelayDeps,
  draining: Draining,
  openExchange: (request: CallRequest, response: CallResponse) => Exchange,
): Playground {
  return {
    call: (request, response, session) => {
      const exchange = openExchange(request, response)
      if (!writes.isWritable()) return sendError(exchange, NO_DISK)
      const authenticator = sessionAuthenticator(session)
      runCall(deps, exchange, draining, { format: OPENAI_CHAT, authenticator, path: null })
    },
    reject: (request, response, error) => sendError(openExchange(request, response), error),
  }
}

const socketsOf = (
  { writes }: Core,
  deps: RelayDeps,
  draining: Draining,
  openExchange: (request: CallRequest, response: CallResponse) => Exchange,
): ResponsesSockets =>
  createResponsesSockets({
    ...{ deps, openExchange, isDraining: draining.isBegun },
    refusalOf: (request) => refusalOf({ deps, draining }, request),
    run: (exchange) => {
      if (!writes.isWritable()) return sendError(exchange, NO_DISK)
      runCall(deps, exchange, draining, RESPONSES_CALL)
    },
  })

const REALTIME_PATH = '/v1/realtime'

const realtimeOf = (
  { writes }: Core,
  deps: RelayDeps,
  draining: Draining,
  openExchange: (request: CallRequest, response: CallResponse) => Exchange,
): RealtimeSockets =>
  createRealtimeSockets({
    ...{ deps, openExchange },
    refusalOf: (request) =>
      writes.isWritable() ? refusalOf({ deps, draining }, request) : NO_DISK,
  })

const NO_DISK = relayError('store_unavailable', { retryAfter: 5 })

/** Answers a request that can't be recorded now. Clients of tasks expect errors in their format. */
function refuseWrite(exchange: Exchange): void {
  const { url = '' } = exchange.request
  if (isTaskPath(url)) return sendTaskError(exchange, kindOf(url), NO_DISK)
  sendError(exchange, NO_DISK)
}

/**
 * The relay's paths in a process without a relay. Every request gets an error in the caller's
 * format.
 */
export const noRelay: RelayPaths = {
  matches: (url) => isRelayPath(url),
  handle: (request, response) => {
    const exchange = exchangeOf(request, response, Date.now(), () => '', null)
    sendError(exchange, relayError('not_found'))
  },
  upgrade: null,
  addActions: describeChannelActions,
}

const exchangeOf = (
  request: CallRequest,
  response: CallResponse,
  startedAt: number,
  clientIpOf: (request: CallRequest) => string,
  log: Logger | null,
): Exchange => ({
  request,
  response,
  call: newCallId(startedAt),
  startedAt,
  arrivedAt: performance.now(),
  clientIp: clientIpOf(request),
  language: languageOf(request.headers['accept-language']),
  errors: errorFormatOf(request),
  jsonArray: jsonArrayFor(request),
  log,
})

type RouteDeps = {
  readonly deps: RelayDeps
  readonly tasks: Tasks
  readonly batches: Batches
  readonly draining: Draining
}

const RESPONSES_CALL: CallWork = {
  format: OPENAI_RESPONSES,
  authenticator: API_KEY_AUTHENTICATOR,
  path: null,
}

/**
 * Returns an error if the relay is shutting down or the request comes from a blocked browser
 * extension; otherwise null.
 */
function refusalOf(
  { deps, draining }: Pick<RouteDeps, 'deps' | 'draining'>,
  request: CallRequest,
): RelayError | null {
  if (draining.isBegun()) return drainingError()
  return isExtension(deps, request) ? relayError('origin_not_allowed') : null
}

/** Routes a request. Unknown paths under /v1 get an error in OpenAI's format. */
function route({ deps, tasks, batches, draining }: RouteDeps, exchange: Exchange): void {
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
  const id = /^\/v1\/responses\/([^/]+)$/.exec(path)?.[1]
  if (id !== undefined) {
    if (method !== 'GET' && method !== 'DELETE') {
      return sendError(exchange, methodNotAllowed('GET, DELETE'))
    }
    return during(serveStoredResponse(deps, exchange, method, id))
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

function runCall(deps: RelayDeps, exchange: Exchange, draining: Draining, work: CallWork): void {
  if (draining.isBegun()) return sendError(exchange, drainingError())
  const call = executeCall(deps, exchange, work)
  draining.during(
    exchange,
    call.catch((err: unknown) => handleException(deps, exchange, err)),
  )
}

/** Names the path that the client probably means, if there is one. */
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
