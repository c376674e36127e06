import type { FastifyInstance, FastifyRequest } from 'fastify'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  isActiveCopy,
  isReadyCopy,
  type ScratchCopyJob,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { AUDITOR } from '#domain/shared/user-roles-and-statuses.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { principalIfAny } from '#infra/http/access-checks.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { ShownAmounts } from '#infra/http/remember-shown-balances-and-budgets.ts'
import { createRewritingPools, type Pools } from '#infra/postgres/pools.ts'
import { rewriteForCopy } from '#projections/scratch-copy-schemas/query.ts'
import { HealthCache } from '../channels/health/health-cache.ts'
import { SCRATCH_COPY_HEADER } from '../contract/scratch-copies.ts'
import { createPriceUnitReader } from '../pricing/price-unit-reader.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import {
  type CopyHandler,
  LIVE_ROUTES,
  scratchCopyHandlers,
} from './routes-answered-from-scratch-copy.ts'

/**
 * Registers hooks that answer a read request with the header `X-Scratch-Copy` from the scratch copy
 * with the id in this header. The access checks and the validation of the live route run first,
 * with the caller's current role. Call this function before the routes are registered.
 */
export function serveScratchCopies(app: FastifyInstance, deps: ReadDeps): void {
  const names = scratchCopyHandlers(deps)
  app.addHook('onRoute', (route) => {
    const name = `GET ${route.url}`
    const isRead = route.method === 'GET' || route.method === 'HEAD'
    if (!isRead || !(names.has(name) || LIVE_ROUTES.has(name))) return
    route.config = { ...route.config, scratchCopy: names.has(name) ? 'copy' : 'live' }
  })
  const copies = new OpenCopies(deps)
  app.addHook('onClose', () => copies.closeAll())
  app.addHook('preHandler', async (request, reply) => {
    const id = copyIdOf(request)
    if (id === null || request.routeOptions.config.scratchCopy !== 'copy') return
    await requireAuditor(request)
    const handlers = await copies.handlersOf(id)
    const handler = handlers.get(`GET ${request.routeOptions.url}`) as CopyHandler
    const payload = await handler(request as never, reply as never)
    return reply.sent || payload === reply ? reply : reply.send(payload)
  })
}

const COPY_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function copyIdOf({ headers }: FastifyRequest): string | null {
  const id = headers[SCRATCH_COPY_HEADER]
  if (id === undefined) return null
  if (typeof id === 'string' && COPY_ID.test(id)) return id
  throw invalidField('X-Scratch-Copy', { zh: '必须是副本的编号', en: 'must be the id of a copy' })
}

/**
 * Throws an error unless the caller is an auditor or admin. This check is needed because some
 * routes with a copy need no login or only the login of an ordinary user.
 */
async function requireAuditor(request: FastifyRequest): Promise<void> {
  const principal = request.principal ?? (await principalIfAny(request))
  if (principal === null) throw httpError('NotLoggedIn')
  if (principal.role < AUDITOR) throw httpError('Forbidden')
}

type OpenCopy = { readonly pools: Pools; readonly handlers: ReadonlyMap<string, CopyHandler> }

/** The scratch copies that are open in this process. Each one has two small connection pools. */
class OpenCopies {
  private readonly deps: ReadDeps
  private readonly open = new Map<string, Promise<OpenCopy>>()

  constructor(deps: ReadDeps) {
    this.deps = deps
  }

  /**
   * Returns the route handlers that read from a copy. Each call checks in the events that the copy
   * still exists. A copy that was deleted, or that may contain the data of an erased user, can't be
   * read any more. Throws a 404 if the copy does not exist, and a 409 if the copy is not ready.
   */
  async handlersOf(id: string): Promise<ReadonlyMap<string, CopyHandler>> {
    const copies = await this.existing()
    for (const openId of this.open.keys()) {
      if (!copies.some(({ request }) => request.id === openId)) this.close(openId)
    }
    const copy = copies.find(({ request }) => request.id === id)
    if (copy === undefined) throw httpError('ScratchCopyUnknown')
    if (!isReadyCopy(copy)) throw httpError('ScratchCopyNotReady')
    const opening = this.open.get(id) ?? openCopy(this.deps, copy)
    this.open.set(id, opening)
    opening.catch(() => this.open.delete(id))
    return (await opening).handlers
  }

  async closeAll(): Promise<void> {
    const opened = await Promise.allSettled(this.open.values())
    this.open.clear()
    await Promise.allSettled(
      opened.map((one) => (one.status === 'fulfilled' ? one.value.pools.close() : null)),
    )
  }

  private async existing(): Promise<readonly ScratchCopyJob[]> {
    const { actors } = this.deps.core
    return await actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, ({ scratchCopies }) =>
      scratchCopies.filter(isActiveCopy),
    )
  }

  private close(id: string): void {
    const opening = this.open.get(id)
    this.open.delete(id)
    // Closing fails if a statement is still running in the copy. The current request must not fail
    // for this reason.
    opening?.then(({ pools }) => pools.close()).catch(() => {})
  }
}

async function openCopy(deps: ReadDeps, { request }: ScratchCopyJob): Promise<OpenCopy> {
  const { core } = deps
  const pools = await createRewritingPools(core.pg, rewriteForCopy(request.id))
  const ofCopy = {
    ...core,
    ...{ db: pools.db, pg: pools.pg, store: eventsUntil(core.store, request.position) },
    // Expiries and periods are computed as of the time of the copy.
    now: () => request.asOf,
  }
  const handlers = scratchCopyHandlers({
    ...deps,
    core: ofCopy,
    health: new HealthCache(ofCopy, NO_GAUGES),
    readPriceUnits: createPriceUnitReader({ ...deps, db: pools.db }),
    shownBalances: NOT_REMEMBERED,
    shownBudgets: NOT_REMEMBERED,
  })
  return { pools, handlers }
}

/**
 * A scratch copy shows no running calls, because the calls of the live site do not belong to the
 * time of the copy.
 */
const NO_GAUGES = { read: async () => [] }

/**
 * The balances and budgets that a copy shows are not remembered, because these amounts must not
 * count as the amounts that the caller last received from the live site.
 */
const NOT_REMEMBERED: ShownAmounts = { remember: async () => {}, lastOf: async () => null }

/**
 * Returns an event store that has no events after `position` and can't be written. With this store,
 * a scratch copy shows the states, balances and prices as of the copy's position.
 */
function eventsUntil(store: EventStore, position: number): EventStore {
  const isWithin = (event: { readonly position: number }): boolean => event.position <= position
  const refuse = (): never => {
    throw new Error('a scratch copy only reads events')
  }
  return {
    readStream: async (...query) => (await store.readStream(...query)).filter(isWithin),
    readAll: async (...query) => (await store.readAll(...query)).filter(isWithin),
    eventAt: async (at) => (at <= position ? await store.eventAt(at) : null),
    headPosition: async () => position,
    append: refuse,
    subscribeAll: refuse,
    close: async () => {},
  }
}
