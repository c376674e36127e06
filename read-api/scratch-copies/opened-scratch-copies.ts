import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  existsCopy,
  isReadyCopy,
  type ScratchCopyJob,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { httpError } from '#infra/http/http-errors.ts'
import type { ShownAmounts } from '#infra/http/last-shown-amounts.ts'
import { createRewritingPools, type Pools } from '#infra/postgres/pools.ts'
import { rewriteForCopy } from '#projections/scratch-copies/query.ts'
import { HealthCache } from '../channels/health/health-cache.ts'
import type { ReadDeps } from '../read-route-helpers.ts'
import { type CopyHandler, handlersWith } from './routes-of-copies.ts'

type OpenCopy = { readonly pools: Pools; readonly handlers: ReadonlyMap<string, CopyHandler> }

/** The scratch copies that are open in this process. Each has two small connection pools. */
export class OpenCopies {
  private readonly deps: ReadDeps
  private readonly open = new Map<string, Promise<OpenCopy>>()

  constructor(deps: ReadDeps) {
    this.deps = deps
  }

  /**
   * Returns the handlers of a copy. The copy is looked up in the events each time, so that it can't
   * be read any more once it was deleted or the data of a user was erased. Throws a 404 or 409.
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
      scratchCopies.filter(existsCopy),
    )
  }

  private close(id: string): void {
    const opening = this.open.get(id)
    this.open.delete(id)
    // A statement that still runs is not worth a failure of this request.
    opening?.then(({ pools }) => pools.close()).catch(() => {})
  }
}

async function openCopy(deps: ReadDeps, { request }: ScratchCopyJob): Promise<OpenCopy> {
  const { core } = deps
  const pools = await createRewritingPools(core.pg, rewriteForCopy(request.id))
  const ofCopy = {
    ...core,
    ...{ db: pools.db, pg: pools.pg, store: eventsUntil(core.store, request.position) },
    // What expires or is counted by time is as it was then.
    now: () => request.asOf,
  }
  const handlers = handlersWith({
    ...deps,
    core: ofCopy,
    health: new HealthCache(ofCopy, NO_GAUGES),
    shownBalances: NOT_REMEMBERED,
    shownBudgets: NOT_REMEMBERED,
  })
  return { pools, handlers }
}

/**
 * A scratch copy shows no running calls, because those of the live site do not belong to its
 * moment.
 */
const NO_GAUGES = { read: async () => [] }

/**
 * The balances of a copy are not remembered, because they must not count as the balances that the
 * caller last saw on the live site.
 */
const NOT_REMEMBERED: ShownAmounts = { remember: async () => {}, lastOf: async () => null }

/**
 * Returns a store that has no events after `position`. It only reads, so that a scratch copy shows
 * the states, balances and prices of its moment.
 */
function eventsUntil(store: EventStore, position: number): EventStore {
  const isWithin = (event: { readonly position: number }): boolean => event.position <= position
  const refuse = (): never => {
    throw new Error('a scratch copy only reads events')
  }
  return {
    readStream: async (...query) => (await store.readStream(...query)).filter(isWithin),
    readAll: async (...query) => (await store.readAll(...query)).filter(isWithin),
    headPosition: async () => position,
    append: refuse,
    subscribeAll: refuse,
    close: async () => {},
  }
}
