import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createFreshness, type Freshness } from '#projections/freshness/query.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { findUser } from '#projections/users/query.ts'
import { readApi } from '#read-api/server.ts'
import { type Relay, startRelay } from '#relay/server.ts'
import { writeApi } from '#write-api/server.ts'
import type { Config, Role } from './config/config.ts'
import type { Core } from './core.ts'
import { createHttpApp } from './http/app.ts'
import { ensureConsoleBuilt } from './http/console-build.ts'
import { serveConsole } from './http/console-static.ts'
import { startCore } from './start-core.ts'
import { addHealthRoutes } from './telemetry/health.ts'

export type Running = {
  /** Where it listens, as a browser can open it. */
  readonly url: string
  readonly core: Core
  readonly relay: Relay | null
  readonly projections: ProjectionRunner | null
  readonly freshness: Freshness
  /** Streams finish (up to `graceMs`), new work is refused, then everything closes. */
  stop(graceMs: number): Promise<void>
}

/** Starts the roles of `config` in this process, on one port. Throws before it serves anything. */
export async function startProduct(
  config: Config,
  tell: (line: string) => void = () => {},
): Promise<Running> {
  const closers: (() => Promise<unknown>)[] = []
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const { core, close } = await startCore(config)
    closers.push(close)
    const parts = await startParts(core, closers)
    const state = { isDraining: false }
    const app = await buildApp(core, parts, state, tell)
    closers.push(() => app.close())
    await app.listen({ port: config.port, host: config.host, backlog: 4096 })
    return {
      url: urlOf(app, config),
      core,
      ...parts,
      stop: async (graceMs) => {
        state.isDraining = true
        await parts.relay?.drain(graceMs)
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

type Parts = {
  readonly relay: Relay | null
  readonly projections: ProjectionRunner | null
  readonly freshness: Freshness
}

async function startParts(core: Core, closers: (() => Promise<unknown>)[]): Promise<Parts> {
  const has = (role: Role): boolean => core.config.roles.has(role)
  const projections = has('projections') ? await startProjections(core) : null
  if (projections !== null) closers.push(() => projections.stop())
  const freshness = createFreshness(core)
  closers.push(() => freshness.stop())
  const relay = has('relay') ? await startRelay(core) : null
  if (relay !== null) closers.push(() => relay.close())
  return { relay, projections, freshness }
}

async function buildApp(
  core: Core,
  parts: Parts,
  state: { readonly isDraining: boolean },
  tell: (line: string) => void,
): Promise<FastifyInstance> {
  const { roles } = core.config
  const app = await createHttpApp(core, {
    findPrincipal: (userId) => findUser(core.db, userId),
    serverFactory: (handler) => serverFor(parts.relay, handler),
  })
  await addHealthRoutes(app, core, { ...parts, isDraining: () => state.isDraining })
  if (roles.has('write-api')) await writeApi(app, { core, freshness: parts.freshness, tell })
  if (roles.has('read-api')) await readApi(app, { core, freshness: parts.freshness })
  if (roles.has('console')) {
    const dist = await ensureConsoleBuilt(tell)
    if (dist !== null) await serveConsole(app, dist)
  }
  return app
}

/** The relay's paths never pass through the management API's router and hooks. */
function serverFor(relay: Relay | null, handler: RequestListener): Server {
  return createServer(
    { requestTimeout: 120_000, headersTimeout: 15_000, keepAliveTimeout: 72_000, noDelay: true },
    (request, response) => {
      if (relay?.matches(request.url ?? '')) relay.handle(request, response)
      else handler(request, response)
    },
  )
}

function urlOf(app: FastifyInstance, config: Config): string {
  const { port } = app.server.address() as AddressInfo
  const isAny = config.host === '0.0.0.0' || config.host === '::'
  const host = isAny ? '127.0.0.1' : config.host.includes(':') ? `[${config.host}]` : config.host
  return `http://${host}:${port}`
}
