import { EventEmitter } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { FastifyInstance } from 'fastify'
import { findAccessToken } from '#projections/credentials/query.ts'
import { detectOtherReadModels } from '#projections/read-model-freshness/detect-read-models-of-other-release.ts'
import { createFreshness, type Freshness } from '#projections/read-model-freshness/query.ts'
import { waitForReadModels } from '#projections/read-model-freshness/wait-for-read-models.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { usersByIds } from '#projections/users/query.ts'
import {
  CHAT_TYPES,
  hostOfChannel,
  isNamedLikeChatModel,
  SERVED_TYPES,
  takesBatches,
  videoPricingAt,
} from '#relay/served-channel-types.ts'
import { noRelay, type Relay, type RelayPaths, startRelay } from '#relay/start-relay.ts'
import { startAuditJobs } from './audit-program/run-audit-jobs.ts'
import type { Config, Role } from './config/config-types.ts'
import type { Core } from './core-dependencies.ts'
import { createHttpApp } from './http/app.ts'
import { ensureConsoleBuilt } from './http/build-console-if-changed.ts'
import { targetForRelay } from './http/canonical-request-target.ts'
import { endIfStalled } from './http/end-stalled-responses.ts'
import { createSlowUploads, type SlowUploads } from './http/let-slow-uploads-continue.ts'
import { serveConsole } from './http/serve-console.ts'
import { type HttpListener, listen } from './http-listener.ts'
import type { EmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { abortable, NEVER } from './reject-on-abort.ts'
import { createDrain, createDrainState, type DrainState } from './shutdown-drain.ts'
import { startCore } from './start-core.ts'
import { addHealthRoutes } from './telemetry/health-routes.ts'
import { startSealer } from './transparency-log/sealer.ts'
import type { Siblings } from './workers/worker-messages.ts'

/**
 * Prints a line for the operator: immediately or, with `ready`, when the product is ready. `{url}`
 * is replaced by the address of the product.
 */
export type PrintLine = (line: string, when?: 'ready') => void

export type Started = {
  readonly url: string
  /**
   * Stops the product: lets streams finish for up to `graceMs` milliseconds, then closes the port
   * and all other resources.
   */
  stop(graceMs: number): Promise<void>
  /** Shortens the grace period of a stop in progress. */
  hurry(graceMs: number): void
}

/** The roles that run in this process. A role that the process does not have is null. */
type RunningRoles = {
  readonly relay: Relay | null
  readonly projections: ProjectionRunner | null
  readonly freshness: Freshness
}

export type Running = Started & RunningRoles & { readonly core: Core }

type StartOptions = {
  readonly siblings?: Siblings | null
  readonly signal?: AbortSignal
  /** The embedded Postgres, if its start has already begun. */
  readonly database?: Promise<EmbeddedPostgres> | null
}

/**
 * Starts the roles of `config` on one port. If the start fails or `signal` aborts, closes
 * everything that it has opened and throws.
 */
export async function startProduct(
  config: Config,
  printLine: PrintLine = () => {},
  { siblings = null, signal = NEVER, database = null }: StartOptions = {},
): Promise<Running> {
  const state = createDrainState()
  return await startAll({ config, state, signal, database }, async (core, running, closers) => {
    const app = await buildApp(core, { ...running, state, printLine, siblings })
    closers.push(() => app.close())
    return siblings === null ? await listen(app, config) : await siblings.shareListener(app)
  })
}

/**
 * Starts the roles of a primary process, which has no HTTP server, because its workers handle all
 * requests.
 */
export const startWithoutListener = (config: Config, signal: AbortSignal): Promise<Running> =>
  startAll({ config, state: createDrainState(), signal, database: null }, async () => null)

type Closers = (() => Promise<unknown>)[]

type Starting = {
  readonly config: Config
  readonly state: DrainState
  readonly signal: AbortSignal
  readonly database: Promise<EmbeddedPostgres> | null
}

async function startAll(
  { config, state, signal, database }: Starting,
  serve: (core: Core, running: RunningRoles, closers: Closers) => Promise<HttpListener | null>,
): Promise<Running> {
  const closers: Closers = []
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const { core, close } = await startCore(config, signal, database)
    closers.push(close)
    const running = await abortable(startRoles(core, closers), signal)
    const listener = await abortable(serve(core, running, closers), signal)
    const drain = createDrain(state, running.relay, listener)
    return {
      url: listener?.url ?? '',
      core,
      ...running,
      hurry: drain.hurry,
      stop: async (graceMs) => {
        await drain.start(graceMs)
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

const READERS: readonly Role[] = ['write-api', 'read-api', 'relay']

async function startRoles(core: Core, closers: Closers): Promise<RunningRoles> {
  const has = (role: Role): boolean => core.config.roles.has(role)
  const projections = has('projections') ? await startProjections(core) : null
  if (projections !== null) {
    closers.push(() => projections.stop())
    const auditJobs = await startAuditJobs(core, projections)
    closers.push(() => auditJobs.stop())
  } else if (READERS.some(has)) await waitForReadModels(core)
  if (projections !== null) {
    const sealer = await startSealer(core)
    closers.push(() => sealer.stop())
  }
  const freshness = createFreshness(core)
  closers.push(() => freshness.stop())
  const relay = has('relay') ? await startRelay(core) : null
  if (relay !== null) closers.push(() => relay.close())
  return { relay, projections, freshness }
}

type Serving = RunningRoles & {
  readonly state: Readonly<DrainState>
  readonly printLine: PrintLine
  readonly siblings: Siblings | null
}

async function buildApp(core: Core, serving: Serving): Promise<FastifyInstance> {
  const { relay, freshness, printLine, state } = serving
  const { roles } = core.config
  const draining = state.draining.signal
  const { longResponses } = state
  const upgrades = new EventEmitter()
  const slow = createSlowUploads()
  const app = await createHttpApp(core, {
    findPrincipals: (userIds) => usersByIds(core.db, userIds),
    findAccessToken: (token) =>
      findAccessToken(core.db, core.vault.keyedHash('access-token', token)),
    serverFactory: (handler) => serverFor(relay ?? noRelay, handler, { state, slow }, upgrades),
    mayContinue: slow.mayContinue,
    isDraining: () => draining.aborted,
    isWritable: core.writes.isWritable,
    areReadModelsOther: await detectOtherReadModels(core),
  })
  await addHealthRoutes(app, core, { ...serving, isDraining: () => draining.aborted })
  // The code of a role is loaded only if the process has the role, because loading code takes most
  // of the time of a start.
  if (roles.has('write-api')) {
    const { registerWriteApi } = await import('#write-api/register-write-api-and-start-jobs.ts')
    await registerWriteApi(app, { core, freshness, printLine, servedTypes: SERVED_TYPES })
  }
  if (roles.has('read-api')) {
    const { registerReadApi } = await import('#read-api/register-read-api.ts')
    const servedTypes = [...SERVED_TYPES.keys()]
    const types = { servedTypes, chatTypes: CHAT_TYPES, hostOfChannel, isNamedLikeChatModel }
    await registerReadApi(app, {
      ...{ core, freshness, draining, longResponses, upgrades, ...types },
      ...{ videoPricingAt, takesBatches },
    })
  }
  ;(relay ?? noRelay).addActions(app, freshness)
  if (roles.has('console')) {
    const dist = await ensureConsoleBuilt(printLine)
    const { pageSources } = await import('#read-api/register-read-api.ts')
    if (dist !== null) await serveConsole(app, dist, () => pageSources(core))
  }
  return app
}

const LIMITS = { requestTimeout: 120_000, headersTimeout: 15_000, keepAliveTimeout: 72_000 }

/** A client then connects again, so that load spreads over workers and new processes. */
const REQUESTS_PER_CONNECTION_MAX = 1_000

/**
 * Creates the HTTP server. Requests to relay paths bypass the router and the hooks of the
 * management API. For all websockets except the relay's, `upgrades` emits `upgrade`.
 */
function serverFor(
  relay: RelayPaths,
  handler: RequestListener,
  { state, slow }: { readonly state: Readonly<DrainState>; readonly slow: SlowUploads },
  upgrades: EventEmitter,
): Server {
  const targetOf = ({ url = '', headers: { host }, method }: IncomingMessage) =>
    targetForRelay(url, host, (target) => relay.matches(target, method))
  const relayTargetOf = (request: IncomingMessage): string | null => {
    const { target } = targetOf(request)
    return relay.upgrade !== null && relay.matches(target) ? target : null
  }
  const server = createServer(
    {
      ...{ ...LIMITS, noDelay: true },
      // Upgrades other than websockets are ignored, as RFC 9110 allows. Some clients offer HTTP/2
      // in the `Upgrade` header.
      shouldUpgradeCallback: (request: IncomingMessage) =>
        request.headers.upgrade?.toLowerCase() === 'websocket' &&
        (relayTargetOf(request) !== null || upgrades.listenerCount('upgrade') > 0),
    },
    (request, response) => {
      if (state.draining.signal.aborted) response.shouldKeepAlive = false
      endIfStalled(response)
      const { target, refused } = targetOf(request)
      request.url = refused ?? target
      if (refused !== null) return relay.refusePath(request, response)
      if (!relay.matches(target, request.method)) return handler(request, response)
      slow.note(request)
      relay.handle(request, response)
    },
  )
  // Fastify sets this limit only for servers that it creates itself.
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION_MAX
  server.on('upgrade', (request, socket, head) => {
    if (isAnsweringEarlierRequest(request)) return socket.destroy()
    const target = relayTargetOf(request)
    if (target === null) return upgrades.emit('upgrade', request, socket, head)
    request.url = target
    return relay.upgrade?.(request, socket, head)
  })
  return server
}

/**
 * Reports whether an earlier request on the connection has not been answered yet. A client may send
 * an upgrade request before it has received the answer. No response can then be assigned to the
 * connection: Node throws, and the exception would end the process.
 */
function isAnsweringEarlierRequest(request: IncomingMessage): boolean {
  const response = new ServerResponse(request)
  try {
    response.assignSocket(request.socket)
    response.detachSocket(request.socket)
    return false
  } catch {
    return true
  }
}
