import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Core } from '#infra/core-dependencies.ts'
import { createGauges, type Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import { type BatchOverrides, startBatches } from './batches/batch-request-handler-and-poller.ts'
import { errorFormatOf } from './call-paths.ts'
import { relayError } from './canonical/relay-error.ts'
import { languageOf } from './canonical/relay-error-catalogue.ts'
import { createChannelActions, describeChannelActions } from './channel-actions/routes.ts'
import { createRelayDeps, type DepsOverrides } from './create-relay-deps.ts'
import { startDeletions } from './delete-expired-rows.ts'
import { OPENAI_CHAT } from './dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from './dialects/openai-responses/responses-format.ts'
import { createDraining, type Draining } from './drain-running-calls.ts'
import type { FindExpired } from './expired-call-detector.ts'
import { startSweeper } from './expired-call-sweeper.ts'
import { jsonArrayFor } from './gemini-paths.ts'
import { clientIpReader } from './pipeline/client-ip-of-request.ts'
import { API_KEY_AUTHENTICATOR, type CallWork } from './pipeline/execute-call.ts'
import { type Exchange, newCallId, sendError } from './pipeline/http-exchange.ts'
import type { CallRequest, CallResponse } from './pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { sessionAuthenticator } from './playground/playground-request.ts'
import { addPlayground, type Playground } from './playground/playground-route.ts'
import { createRealtimeSockets, type RealtimeSockets } from './realtime/realtime-sockets.ts'
import { isRelayPath } from './recognize-relay-requests-and-wrong-base-urls.ts'
import { reportCallsInFlight } from './report-calls-in-flight-per-channel.ts'
import {
  createResponsesSockets,
  type ResponsesSockets,
} from './responses-socket/responses-sockets.ts'
import { REALTIME_PATH, refusalOf, routeRequest, runCall } from './route-requests.ts'
import { sendTaskError } from './tasks/send-task-errors-and-acceptance.ts'
import { startTasks, type TaskOverrides } from './tasks/task-request-handler-and-poller.ts'
import { isTaskPath, kindOf } from './tasks/task-routes.ts'

/** The URL paths that the relay serves directly, without the router of the management API. */
export type RelayPaths = {
  readonly matches: (url: string, method?: string) => boolean
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Refuses a request whose path is malformed, in the format of the API that the path names. */
  readonly refusePath: (request: IncomingMessage, response: ServerResponse) => void
  /** Opens a websocket, or answers the request for it. Null if the process has no relay. */
  readonly upgrade: ResponsesSockets['upgrade'] | null
  /** Adds the relay's routes to the management API's app: channel actions and the playground. */
  readonly addActions: (app: FastifyInstance, freshness: Pick<Freshness, 'waitFor'>) => void
}

/** A running relay. */
export type Relay = RelayPaths & {
  /**
   * Returns the number of running calls, including those that are still being uploaded or admitted.
   * Responses that are being cancelled at their providers are counted as well.
   */
  readonly inFlight: () => number
  /**
   * Refuses new calls and waits up to `graceMs` for the running calls. Calls that are still running
   * are then ended.
   */
  readonly drain: (graceMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Dependencies and intervals that tests replace. */
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
  const openExchange: OpenExchange = (request, response) =>
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
      else routeRequest({ deps, tasks, batches, draining }, exchange)
    },
    refusePath: refusePathWith(openExchange),
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
  openExchange: OpenExchange,
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
  openExchange: OpenExchange,
): ResponsesSockets =>
  createResponsesSockets({
    ...{ deps, openExchange, isDraining: draining.isBegun },
    refusalOf: (request) => refusalOf({ deps, draining }, request),
    run: (exchange) => {
      if (!writes.isWritable()) return sendError(exchange, NO_DISK)
      runCall(deps, exchange, draining, RESPONSES_CALL)
    },
  })

const RESPONSES_CALL: CallWork = {
  format: OPENAI_RESPONSES,
  authenticator: API_KEY_AUTHENTICATOR,
  path: null,
}

const realtimeOf = (
  { writes }: Core,
  deps: RelayDeps,
  draining: Draining,
  openExchange: OpenExchange,
): RealtimeSockets =>
  createRealtimeSockets({
    ...{ deps, openExchange },
    refusalOf: (request) =>
      writes.isWritable() ? refusalOf({ deps, draining }, request) : NO_DISK,
  })

const NO_DISK = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Refuses a request that can't be recorded now. Clients of tasks get the error in their own format.
 */
function refuseWrite(exchange: Exchange): void {
  const { url = '' } = exchange.request
  if (isTaskPath(url)) return sendTaskError(exchange, kindOf(url), NO_DISK)
  sendError(exchange, NO_DISK)
}

type OpenExchange = (request: CallRequest, response: CallResponse) => Exchange

const refusePathWith =
  (openExchange: OpenExchange): RelayPaths['refusePath'] =>
  (request, response) =>
    sendError(openExchange(request, response), relayError('invalid_path'))

const exchangeWithoutRelay: OpenExchange = (request, response) =>
  exchangeOf(request, response, Date.now(), () => '', null)

/**
 * The relay's paths in a process without a relay. Every request gets an error in the caller's
 * format.
 */
export const noRelay: RelayPaths = {
  matches: (url) => isRelayPath(url),
  handle: (request, response) =>
    sendError(exchangeWithoutRelay(request, response), relayError('not_found')),
  refusePath: refusePathWith(exchangeWithoutRelay),
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
