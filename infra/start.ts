import { createServer, type RequestListener, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { findAccessToken } from '#projections/credentials/query.ts'
import { createFreshness, type Freshness } from '#projections/freshness/query.ts'
import { untilBuilt } from '#projections/freshness/until-built.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { findUser } from '#projections/users/query.ts'
import { pageSources, readApi } from '#read-api/server.ts'
import {
  CHAT_TYPES,
  noRelay,
  type Relay,
  type RelayPaths,
  SERVED_TYPES,
  startRelay,
} from '#relay/server.ts'
import { writeApi } from '#write-api/server.ts'
import { abortable, NEVER } from './abortable.ts'
import type { Config, Role } from './config/config.ts'
import type { Core } from './core.ts'
import { createDrain, type DrainState, notDraining } from './drain.ts'
import { createHttpApp } from './http/app.ts'
import { ensureConsoleBuilt } from './http/console-build.ts'
import { serveConsole } from './http/console-static.ts'
import { canonicalTarget } from './http/request-target.ts'
import type { HttpListener } from './http-listener.ts'
import { listen } from './listening.ts'
import { startCore } from './start-core.ts'
import { addHealthRoutes } from './telemetry/health.ts'
import type { Siblings } from './workers/messages.ts'

/**
 * Says a line to whoever starts the product: at once, or once it is ready. Such a line may say
 * `{url}`, where the product listens.
 */
export type Tell = (line: string, when?: 'ready') => void

/** What was started, as seen by whoever has to stop it. */
export type Started = {
  /** Where it listens, as a browser can open it. */
  readonly url: string
  /** Streams finish (up to `graceMs`), the port closes, then everything else does. */
  stop(graceMs: number): Promise<void>
  /** Shortens the grace of a stop under way. */
  hurry(graceMs: number): void
}

/** The parts of this process; null: not one of its roles. */
type Deps = {
  readonly relay: Relay | null
  readonly projections: ProjectionRunner | null
  readonly freshness: Freshness
}

export type Running = Started & Deps & { readonly core: Core }

/**
 * Starts the roles of `config` in this process, on one port. Throws before it serves anything;
 * also once `signal` is aborted, with what was opened until then closed.
 */
export async function startProduct(
  config: Config,
  tell: Tell = () => {},
  siblings: Siblings | null = null,
  signal: AbortSignal = NEVER,
): Promise<Running> {
  const state = notDraining()
  return await startAll({ config, state, signal }, async (core, parts, closers) => {
    const app = await buildApp(core, { ...parts, state, tell, siblings })
    closers.push(() => app.close())
    return siblings === null ? await listen(app, config) : await siblings.shareListener(app)
  })
}

/** The same without a port, for a process whose workers listen. */
export const startUnserved = (config: Config, signal: AbortSignal): Promise<Running> =>
  startAll({ config, state: notDraining(), signal }, async () => null)

type Closers = (() => Promise<unknown>)[]

type Starting = {
  readonly config: Config
  readonly state: DrainState
  readonly signal: AbortSignal
}

async function startAll(
  { config, state, signal }: Starting,
  serve: (core: Core, parts: Deps, closers: Closers) => Promise<HttpListener | null>,
): Promise<Running> {
  const closers: Closers = []
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const { core, close } = await startCore(config, signal)
    closers.push(close)
    const parts = await abortable(startParts(core, closers), signal)
    const listener = await abortable(serve(core, parts, closers), signal)
    const drain = createDrain(state, parts.relay, listener)
    return {
      url: listener?.url ?? '',
      core,
      ...parts,
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

/** Roles that look things up in read models. */
const READERS: readonly Role[] = ['write-api', 'read-api', 'relay']

async function startParts(core: Core, closers: Closers): Promise<Deps> {
  const has = (role: Role): boolean => core.config.roles.has(role)
  const projections = has('projections') ? await startProjections(core) : null
  if (projections !== null) closers.push(() => projections.stop())
  else if (READERS.some(has)) await untilBuilt(core)
  const freshness = createFreshness(core)
  closers.push(() => freshness.stop())
  const relay = has('relay') ? await startRelay(core) : null
  if (relay !== null) closers.push(() => relay.close())
  return { relay, projections, freshness }
}

type Serving = Deps & {
  readonly state: Readonly<DrainState>
  readonly tell: Tell
  readonly siblings: Siblings | null
}

async function buildApp(core: Core, serving: Serving): Promise<FastifyInstance> {
  const { relay, freshness, tell, state } = serving
  const { roles } = core.config
  const draining = state.begun.signal
  const { longAnswers } = state
  const app = await createHttpApp(core, {
    findPrincipal: (userId) => findUser(core.db, userId),
    findAccessToken: (token) =>
      findAccessToken(core.db, core.vault.keyedHash('access-token', token)),
    serverFactory: (handler) => serverFor(relay ?? noRelay, handler, state),
    isDraining: () => draining.aborted,
    isWritable: core.writes.isWritable,
  })
  await addHealthRoutes(app, core, { ...serving, isDraining: () => draining.aborted })
  if (roles.has('write-api')) {
    await writeApi(app, { core, freshness, tell, servedTypes: SERVED_TYPES })
  }
  if (roles.has('read-api')) {
    const types = { servedTypes: [...SERVED_TYPES.keys()], chatTypes: CHAT_TYPES }
    await readApi(app, { core, freshness, draining, longAnswers, ...types })
  }
  ;(relay ?? noRelay).addActions(app, freshness)
  if (roles.has('console')) {
    const dist = await ensureConsoleBuilt(tell)
    if (dist !== null) await serveConsole(app, dist, () => pageSources(core))
  }
  return app
}

/** The relay's paths never pass through the management API's router and hooks. */
function serverFor(
  relay: RelayPaths,
  handler: RequestListener,
  state: Readonly<DrainState>,
): Server {
  return createServer(
    { requestTimeout: 120_000, headersTimeout: 15_000, keepAliveTimeout: 72_000, noDelay: true },
    (request, response) => {
      if (state.begun.signal.aborted) response.shouldKeepAlive = false
      request.url = canonicalTarget(request.url ?? '', request.headers.host)
      if (relay.matches(request.url)) relay.handle(request, response)
      else handler(request, response)
    },
  )
}
