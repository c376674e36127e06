import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core-dependencies.ts'
import { afterPosition, waitsForPosition } from '#infra/http/after-position-header.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { ShownAmounts } from '#infra/http/remember-shown-balances-and-budgets.ts'
import type { ProviderMessages } from '#infra/provider-messages/store-provider-error-messages.ts'
import type { LongResponses } from '#infra/shutdown-drain.ts'
import type { TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import type { Freshness, ReadModelName } from '#projections/read-model-freshness/query.ts'
import type { HealthCache } from './channels/health/health-cache.ts'
import type { VideoPricingAt } from './pricing/price-unit-index.ts'
import type { PriceUnitReader } from './pricing/price-unit-reader.ts'

export type HostOfChannel = (terms: {
  readonly type: number
  readonly baseUrl: string
}) => string | null

export type ReadDeps = {
  readonly core: Core
  readonly freshness: Freshness
  /** Aborted when this process begins to stop. Running calls can continue for some time. */
  readonly draining: AbortSignal
  /**
   * Counts the responses that take long, such as exports. A stopping process waits for these
   * responses within its grace period.
   */
  readonly longResponses?: LongResponses
  readonly health: HealthCache
  readonly progress: TaskProgress
  /**
   * Remembers the users' balances that the server last returned to each session or access token.
   */
  readonly shownBalances: ShownAmounts
  /** Remembers the token budgets that the server last returned to each session or access token. */
  readonly shownBudgets: ShownAmounts
  readonly providerMessages: Pick<ProviderMessages, 'find'>
  /**
   * The dependencies of the live site, even if the request reads from a scratch copy. Exports are
   * recorded on the live site.
   */
  readonly site: Pick<Core, 'store' | 'vault' | 'now' | 'limits'>
  /** The channel types that this server supports. */
  readonly servedTypes: readonly number[]
  /** The supported channel types that have models for chats. */
  readonly chatTypes: readonly number[]
  /** Reports whether the name of a model indicates a model for chats. */
  readonly isNamedLikeChatModel?: (model: string) => boolean
  /** Reports whether channels of a type accept batches of requests to a model. */
  readonly takesBatches?: (type: number, model: string) => boolean
  readonly videoPricingAt: VideoPricingAt
  readonly readPriceUnits: PriceUnitReader
  /** Returns the host to which calls through a channel are sent, or null if the host is unknown. */
  readonly hostOfChannel?: HostOfChannel
}

/** A Fastify app whose handlers get their types from the schemas of the routes. */
export type App = ReturnType<typeof withTypes>
export const withTypes = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

const WAIT_MAX_MS = 2_000

/**
 * Returns a `preHandler` that waits until the named read models have reached the position in the
 * request header `X-After-Position`. The handler waits at most two seconds, and then lets the
 * request continue.
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
 * `after`, the page starts after the row with this id, and the offset is 0.
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

/** Returns the requested order of a list (see `sortedBy`). The default is by id, newest first. */
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
 * Throws a 400 if `to` is less than `from`. Without this check, the caller would get an empty list
 * and would not see the mistake.
 */
export function expectOrdered(from: number | undefined, to: number | undefined): void {
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField('to', { zh: '不能小于 from', en: 'must not be less than from' })
  }
}

/**
 * Returns the range of a query: from `from` (inclusive) to `to` (exclusive), both in Unix seconds.
 * Throws a 400 if the range would end before it begins.
 */
export function periodOf(query: { readonly from?: string; readonly to?: string }) {
  const period = { from: integerOf(query.from), to: integerOf(query.to) }
  expectOrdered(period.from, period.to)
  return period
}

/**
 * Returns the user id in an actor such as `user:7`. Returns null for any other actor, such as
 * `system:sweeper`.
 */
export const userIdOf = (actor: string): number | null =>
  /^user:[1-9]\d{0,14}$/.test(actor) ? Number(actor.slice('user:'.length)) : null
