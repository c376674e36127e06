import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core-dependencies.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { ShownAmounts } from '#infra/http/last-shown-amounts.ts'
import { afterPosition, waitsForPosition } from '#infra/http/response-envelope.ts'
import type { ProviderMessages } from '#infra/provider-messages/provider-messages.ts'
import type { LongResponses } from '#infra/shutdown-drain.ts'
import type { TaskProgress } from '#infra/task-progress/task-progress.ts'
import type { Freshness, ReadModelName } from '#projections/read-model-freshness/query.ts'
import type { HealthCache } from './channels/health/health-cache.ts'

export type HostOfChannel = (terms: {
  readonly type: number
  readonly baseUrl: string
}) => string | null

export type ReadDeps = {
  readonly core: Core
  readonly freshness: Freshness
  /** Aborted when this process begins to stop. Running calls may still continue. */
  readonly draining: AbortSignal
  /**
   * Counts long responses. When the process stops, it waits until all counted responses have ended.
   */
  readonly longResponses?: LongResponses
  readonly health: HealthCache
  readonly progress: TaskProgress
  /** For each session or access token, the balances that its responses last contained. */
  readonly shownBalances: ShownAmounts
  /** For each session or access token, the token budgets that its responses last contained. */
  readonly shownBudgets: ShownAmounts
  readonly providerMessages: Pick<ProviderMessages, 'find'>
  /** The live site, even if the request is for a scratch copy. Exports are recorded there. */
  readonly site: Pick<Core, 'store' | 'vault' | 'now' | 'limits'>
  /** The supported channel types. */
  readonly servedTypes: readonly number[]
  /** The supported channel types that offer chat. */
  readonly chatTypes: readonly number[]
  /** Returns the host to which calls of a channel are sent, or null if it is not known. */
  readonly hostOfChannel?: HostOfChannel
}

/** A Fastify app. The types of its handlers are derived from the schemas of the routes. */
export type App = ReturnType<typeof withTypes>
export const withTypes = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

const WAIT_MAX_MS = 2_000

/**
 * Returns a `preHandler` that waits for read models. They must reach the position in the request's
 * header `X-After-Position`. The wait has a time limit.
 */
export const upToDate = ({ freshness }: ReadDeps, ...names: readonly ReadModelName[]) =>
  waitsForPosition(async (request: FastifyRequest): Promise<void> => {
    const position = afterPosition(request)
    if (position !== null) await freshness.waitFor(names, position, WAIT_MAX_MS)
  })

const DEFAULT_PAGE_SIZE = 10

type PageParameters = {
  readonly p?: string
  readonly page_size?: string
  readonly size?: string
  readonly after?: string
}

/**
 * Returns the page number (`p`, from 0) and the page size of a query. If the query contains
 * `after`, the page starts after that row, and the offset is 0.
 */
export function pageOf(query: PageParameters): {
  page: number
  limit: number
  offset: number
  after?: number
} {
  const page = Number(query.p ?? 0)
  const limit = Number(query.page_size ?? query.size ?? DEFAULT_PAGE_SIZE)
  const after = integerOf(query.after)
  return after === undefined
    ? { page, limit, offset: page * limit }
    : { page, limit, offset: 0, after }
}

/**
 * Returns the requested order of a list (see `sortedBy`). By default, the list is ordered by id,
 * newest first.
 */
export const orderOf = <Sort extends string>(query: {
  sort?: Sort | 'id' | ''
  order?: 'asc' | 'desc' | ''
}): { readonly sort: Sort | 'id'; readonly isDescending: boolean } => ({
  sort: query.sort || 'id',
  isDescending: query.order !== 'asc',
})

export const integerOf = (value: string | undefined): number | undefined =>
  value === undefined || value === '' ? undefined : Number(value)

export const textOf = (value: string | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : value

/**
 * Throws a 400 if a range would end before it begins: an empty list would hide that its ends are
 * swapped.
 */
export function expectOrdered(from: number | undefined, to: number | undefined): void {
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField('to', { zh: '不能小于 from', en: 'must not be less than from' })
  }
}

/**
 * Returns the period of a query, which begins at `from` and ends before `to`, both in unix seconds.
 * Throws a 400 if it would end before it begins.
 */
export function periodOf(query: { readonly from?: string; readonly to?: string }) {
  const period = { from: integerOf(query.from), to: integerOf(query.to) }
  expectOrdered(period.from, period.to)
  return period
}

/**
 * Returns the user id in an actor such as `user:7`. For any other actor, such as `system:sweeper`,
 * it is null.
 */
export const userIdOf = (actor: string): number | null =>
  /^user:[1-9]\d{0,14}$/.test(actor) ? Number(actor.slice('user:'.length)) : null
