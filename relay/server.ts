import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Core } from '#infra/core.ts'
import { createGauges, type Gauges } from '#infra/gauges/gauges.ts'
import { createOutbound, type OutboundLimits } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import {
  createProviderMessages,
  type ProviderMessages,
} from '#infra/provider-messages/provider-messages.ts'
import type { Freshness } from '#projections/freshness/query.ts'
import { newCallId } from './call-id.ts'
import { relayError } from './canonical/relay-error.ts'
import { languageOf } from './canonical/relay-errors.ts'
import { createChannelActions, describeChannelActions } from './channel-actions/routes.ts'
import { Breaker } from './channel-health/breaker.ts'
import { clientIpReader } from './client-ip.ts'
import { createDraining, type Draining, drainingError } from './draining.ts'
import { reportInFlight } from './in-flight.ts'
import type { FindExpired } from './lease-watch.ts'
import { BodyMemory } from './limits/body-memory.ts'
import { CallsUnderWay, type ConcurrencyCaps, DEFAULT_CAPS } from './limits/concurrency.ts'
import { FailedKeys } from './limits/failed-keys.ts'
import { listModels } from './list-models.ts'
import { AutoDisable } from './pipeline/auto-disable.ts'
import { KeyChoice } from './pipeline/choose-key.ts'
import { DEFAULT_DEADLINES, type Deadlines, Watch } from './pipeline/deadlines.ts'
import { EmptiedAccounts } from './pipeline/emptied-accounts.ts'
import { type Exchange, headersOf, sendError } from './pipeline/exchange.ts'
import { type Authenticator, relayCall } from './pipeline/relay-call.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { RetryBudget } from './pipeline/retry-budget.ts'
import { addPlayground, type Playground } from './playground/add-playground.ts'
import { sessionAuthenticator } from './playground/own-request.ts'
import type { ProfileField } from './providers/openai-compatible/profile.ts'
import { PROFILES } from './providers/openai-compatible/profiles.ts'
import { TASK_PROFILES } from './providers/tasks/profiles.ts'
import { type ClaimedCalls, createClaimedCalls } from './repeats/claimed-calls.ts'
import { startSweeper } from './sweeper.ts'
import { isTaskPath } from './tasks/task-routes.ts'
import { startTasks, type TaskOverrides, type Tasks } from './tasks/tasks.ts'
import { createTokenCounter } from './token-counts/token-counter.ts'
import {
  type LoadChannels,
  loadChannelRows,
  loadViewRows,
  type ViewRows,
} from './views/load-views.ts'
import { startViews } from './views/views.ts'

/** The relay's own paths, which pass by the management API's router. */
export type RelayPaths = {
  readonly matches: (url: string) => boolean
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** What is served on the app of the management API: the admins' calls to providers, and chats. */
  readonly addActions: (app: FastifyInstance, freshness: Pick<Freshness, 'waitFor'>) => void
}

export type Relay = RelayPaths & {
  /** Chat calls, from their arrival on: also those still uploaded or being admitted. */
  readonly inFlight: () => number
  /** Refuses new calls, waits for those under way up to `graceMs`, then ends them. */
  readonly drain: (graceMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Seams for tests. */
export type RelayOverrides = {
  readonly deadlines?: Partial<Deadlines>
  readonly caps?: Partial<ConcurrencyCaps>
  readonly rows?: ViewRows
  readonly loadChannels?: LoadChannels
  readonly findExpired?: FindExpired
  readonly claimedCalls?: ClaimedCalls
  readonly providerMessages?: ProviderMessages
  readonly gauges?: Gauges
  readonly tasks?: TaskOverrides
}

/** Keys of calls are kept for a day; a little more does no harm. */
const FORGET_EVERY_MS = 600_000

/** Resolves once keys, channels and prices are in memory and current. */
export async function startRelay(core: Core, overrides: RelayOverrides = {}): Promise<Relay> {
  const parts = await startParts(core, overrides)
  const gauges = overrides.gauges ?? (await createGauges(core.pg))
  const stopReporting = reportInFlight({ ...parts, gauges })
  const sweeper = startSweeper(
    core,
    parts.claimedCalls,
    parts.deadlines.leaseMs,
    overrides.findExpired,
  )
  const tasks = await startTasks(core, parts, overrides.tasks ?? {})
  const forgetting = setInterval(() => {
    parts.claimedCalls.sweep(core.now()).catch((err: unknown) => {
      core.log.warn({ err }, 'old keys could not be forgotten')
    })
    parts.providerMessages.sweep(core.now()).catch((err: unknown) => {
      core.log.warn({ err }, 'old messages of providers could not be deleted')
    })
  }, FORGET_EVERY_MS)
  forgetting.unref()
  const acts = createChannelActions(core, parts)
  const draining = createDraining({
    abort: () => {
      for (const call of parts.live) call.abort('draining')
    },
    uploadStallMs: parts.deadlines.uploadStallMs,
  })
  const clientIpOf = clientIpReader(core.config.trustProxy)
  const arrive = (request: IncomingMessage, response: ServerResponse): Exchange =>
    exchangeOf(request, response, core.now(), clientIpOf)
  return {
    matches,
    handle: (request, response) => {
      const exchange = arrive(request, response)
      // At once, instead of after the deadline of an append that can't be written.
      if (request.method === 'POST' && !core.writes.isWritable()) sendError(exchange, NO_DISK)
      else route({ parts, tasks, draining }, exchange)
    },
    addActions: (app, freshness) => {
      acts.add(app, freshness)
      addPlayground(app, playgroundOf(core, parts, draining, arrive))
    },
    inFlight: draining.inFlight,
    drain: draining.drain,
    close: async () => {
      clearInterval(forgetting)
      await acts.stop()
      await tasks.stop()
      parts.watch.close()
      await Promise.all([
        stopReporting(),
        sweeper.stop(),
        parts.views.stop(),
        parts.counter.close(),
      ])
      await parts.outbound.close()
    },
  }
}

function playgroundOf(
  { writes }: Core,
  parts: RelayDeps,
  draining: Draining,
  arrive: (request: IncomingMessage, response: ServerResponse) => Exchange,
): Playground {
  return {
    call: (request, response, userId) => {
      const exchange = arrive(request, response)
      if (writes.isWritable()) carry(parts, exchange, draining, sessionAuthenticator(userId))
      else sendError(exchange, NO_DISK)
    },
    reject: (request, response, error) => sendError(arrive(request, response), error),
  }
}

const NO_DISK = relayError('store_unavailable', { retryAfter: 5 })

const matches = (url: string): boolean =>
  url.startsWith('/v1/') || url === '/v1' || url.startsWith('/v1?') || isTaskPath(url)

type ServedType = {
  readonly required: readonly ProfileField[]
  readonly needsAddress: boolean
  readonly addressWords: readonly string[]
}

/** Types of channels that calls can be sent to, each with what it can't do without. */
export const SERVED_TYPES: ReadonlyMap<number, ServedType> = new Map(
  [...PROFILES, ...TASK_PROFILES].map(({ id, baseUrl, bases = [], fields = [] }) => [
    id,
    {
      required: fields.filter(({ isRequired }) => isRequired),
      needsAddress: baseUrl === null,
      addressWords: bases.map(({ keyword }) => keyword),
    },
  ]),
)

/** Those that take chats: the others take tasks alone. */
export const CHAT_TYPES: readonly number[] = PROFILES.map(({ id }) => id)

/** A process that has no relay: its callers are told so in their own format. */
export const noRelay: RelayPaths = {
  matches,
  handle: (request, response) => {
    const exchange = exchangeOf(request, response, Date.now(), () => '')
    sendError(exchange, relayError('not_found'))
  },
  addActions: describeChannelActions,
}

const exchangeOf = (
  request: IncomingMessage,
  response: ServerResponse,
  startedAt: number,
  clientIpOf: (request: IncomingMessage) => string,
): Exchange => ({
  request,
  response,
  call: newCallId(startedAt),
  startedAt,
  arrivedAt: performance.now(),
  clientIp: clientIpOf(request),
  language: languageOf(request.headers['accept-language']),
})

const openProviderMessages = ({ pg, log }: Core): Promise<ProviderMessages> =>
  createProviderMessages(pg, (err) => log.warn({ err }, 'messages of providers were not written'))

async function startParts(core: Core, overrides: RelayOverrides): Promise<RelayDeps> {
  const { actors, callLimits: limits, vault, log, now, config } = core
  const caps = { ...DEFAULT_CAPS, ...overrides.caps }
  const deadlines = { ...DEFAULT_DEADLINES, ...overrides.deadlines }
  const policy = operatorPolicy(config)
  const outboundLimits: OutboundLimits = {
    connectTimeoutMs: deadlines.connectMs,
    headersTimeoutMs: 0,
    bodyTimeoutMs: 0,
    maxResponseBytes: -1,
  }
  const rows = overrides.rows ?? (await loadViewRows(core))
  const loadChannels = overrides.loadChannels ?? (() => loadChannelRows(core))
  const views = await startViews(core, rows, policy, loadChannels)
  const { circuits } = views
  const options = () => views.options.options.health.breaker
  const breaker = new Breaker({ actors, log, now, circuits, options })
  return {
    actors,
    limits,
    vault,
    log,
    now,
    deadlines,
    views,
    outbound: createOutbound(policy, outboundLimits),
    counter: createTokenCounter(),
    failedKeys: new FailedKeys(limits, vault),
    underWay: new CallsUnderWay(caps.total),
    caps,
    bodies: new BodyMemory(),
    breaker,
    autoDisable: new AutoDisable({ actors, log, now, views }),
    emptied: new EmptiedAccounts(actors),
    keys: new KeyChoice(breaker),
    retries: new RetryBudget(),
    watch: new Watch(),
    live: new Set(),
    claimedCalls: overrides.claimedCalls ?? (await createClaimedCalls(core.pg)),
    providerMessages: overrides.providerMessages ?? (await openProviderMessages(core)),
  }
}

type Routed = {
  readonly parts: RelayDeps
  readonly tasks: Tasks
  readonly draining: Draining
}

/** The relay's paths. Whatever else is under /v1 is answered here too, in the same format. */
function route({ parts, tasks, draining }: Routed, exchange: Exchange): void {
  const { request } = exchange
  const { method = '', url = '' } = request
  if (method === 'OPTIONS') return preflight(exchange)
  if (draining.isBegun()) return sendError(exchange, drainingError())
  if (isExtension(parts, request)) return sendError(exchange, relayError('origin_not_allowed'))
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  if (isTaskPath(url)) {
    const task = tasks.handle(exchange)
    return draining.during(
      exchange,
      task.catch((err: unknown) => failed(parts, exchange, err)),
    )
  }
  if (path === '/v1/chat/completions') {
    if (method !== 'POST') return sendError(exchange, only('POST'))
    return carry(parts, exchange, draining)
  }
  if (path !== '/v1/models' && !path.startsWith('/v1/models/')) {
    return sendError(exchange, relayError('not_found'))
  }
  if (method !== 'GET') return sendError(exchange, only('GET'))
  const id = path === '/v1/models' ? null : decoded(path.slice(11))
  listModels(parts, exchange, id).catch((err: unknown) => failed(parts, exchange, err))
}

/** A chat, unless the process is about to end. */
function carry(
  parts: RelayDeps,
  exchange: Exchange,
  draining: Draining,
  authenticator?: Authenticator,
): void {
  if (draining.isBegun()) return sendError(exchange, drainingError())
  const call = relayCall(parts, exchange, authenticator)
  draining.during(
    exchange,
    call.catch((err: unknown) => failed(parts, exchange, err)),
  )
}

const only = (method: string) => relayError('method_not_allowed', { subject: method })

const isExtension = ({ views }: RelayDeps, { headers }: IncomingMessage): boolean =>
  headers.origin !== undefined &&
  views.options.options.isBrowserExtensionBlocked &&
  /^[a-z-]+-extension:\/\//i.test(headers.origin)

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function preflight({ request, response, call }: Exchange): void {
  const asked = request.headers['access-control-request-headers']
  response.writeHead(204, [
    ...headersOf(call),
    'Access-Control-Allow-Methods',
    'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers',
    asked ?? 'Authorization, Content-Type',
    'Access-Control-Max-Age',
    '86400',
  ])
  response.end()
}

/** A bug of ours: logged with its stack, answered without. */
function failed({ log }: RelayDeps, exchange: Exchange, err: unknown): void {
  log.error({ err, call: exchange.call }, 'relay: a call failed')
  sendError(exchange, relayError('internal_error'))
  if (!exchange.response.writableEnded) exchange.response.destroy()
}
