import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '../core-dependencies.ts'
import { onlyAdmin } from '../http/access-checks.ts'
import { answerIn } from '../postgres/query-timeouts.ts'
import type { Siblings } from '../workers/worker-messages.ts'
import { createMetrics } from './metrics.ts'

export type HealthSources = {
  readonly relay: { inFlight(): number } | null
  readonly projections: { positions(): ReadonlyMap<string, number>; isHealthy(): boolean } | null
  readonly isDraining: () => boolean
  /** The other processes on this port; null if this process is the only one. */
  readonly siblings: Siblings | null
}

const PROBE_MAX_AGE_MS = 5_000
const PROBE_WITHIN_MS = 2_000

/**
 * Adds `/livez` (the event loop runs), `/startupz` (the start is complete), `/readyz` (calls can be
 * accepted) and `/metrics` (for administrators and scrapers).
 */
export async function addHealthRoutes(
  app: FastifyInstance,
  core: Core,
  sources: HealthSources,
): Promise<void> {
  const hasDatabase = probe(() => core.pg.query('select 1'))
  const hasStore = probe(() => core.store.headPosition())
  const unavailable = async (): Promise<string | null> => {
    const written = core.writes.problem()
    const [database, store, unwritten] = await Promise.all([hasDatabase(), hasStore(), written])
    if (!database) return 'Postgres'
    return store ? unwritten : 'event store'
  }
  app.get('/livez', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  // The port is opened at the end of the start, so a process that answers has started.
  app.get('/startupz', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', async (_request, reply) => {
    const problem = sources.isDraining() ? 'draining' : await unavailable()
    if (problem !== null) reply.header('retry-after', '5')
    return reply
      .code(problem === null ? 200 : 503)
      .type('text/plain')
      .send(`${problem ?? 'ok'}\n`)
  })
  const metrics = createMetrics({
    callsInFlight: () => sources.relay?.inFlight() ?? 0,
    eventsHead: () => core.store.headPosition(),
    projectionPositions: () => sources.projections?.positions() ?? new Map(),
    areLimitsDegraded: () => core.limits.isDegraded(),
    isBusDegraded: () => core.bus.isDegraded(),
    busError: () => core.bus.operatorError(),
  })
  sources.siblings?.join(metrics)
  app.get('/metrics', {
    preHandler: async (request, reply) => {
      if (!isScraper(request, core.config.metricsToken)) await onlyAdmin(request, reply)
    },
    handler: async (_request, reply) =>
      reply.type(metrics.contentType).send(await (sources.siblings ?? metrics).metrics()),
  })
}

/** Creates a function that reports whether `ask` succeeds. A success is cached for some seconds. */
function probe(ask: () => Promise<unknown>): () => Promise<boolean> {
  // The monotonic clock is used, because the shared clock may go back.
  let answeredAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - answeredAt < PROBE_MAX_AGE_MS) return true
    try {
      await answerIn(ask(), PROBE_WITHIN_MS)
      answeredAt = performance.now()
      return true
    } catch {
      return false
    }
  }
}

function isScraper(request: FastifyRequest, token: string | null): boolean {
  if (token === null) return false
  const sent = Buffer.from(request.headers.authorization ?? '')
  const expected = Buffer.from(`Bearer ${token}`)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
