import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core-dependencies.ts'
import type { ShownAmounts } from '#infra/http/last-shown-amounts.ts'
import { afterPosition, waitsForPosition } from '#infra/http/response-envelope.ts'
import type { ProviderMessages } from '#infra/provider-messages/provider-messages.ts'
import type { LongResponses } from '#infra/shutdown-drain.ts'
import type { TaskProgress } from '#infra/task-progress/task-progress.ts'
import type { Freshness, ReadModelName } from '#projections/read-model-freshness/query.ts'
import type { HealthCache } from './channels/health/health-cache.ts'

export type ReadDeps = {
  readonly core: Core
  readonly freshness: Freshness
  /** The signal that is aborted when this process begins to drain, before it stops. */
  readonly draining: AbortSignal
  /** Counts long responses. A stop of the process waits until the counted responses have ended. */
  readonly longResponses?: LongResponses
  readonly health: HealthCache
  readonly progress: TaskProgress
  /** The balances that each reader has last seen in a response. */
  readonly shownBalances: ShownAmounts
  /** The token budgets that each reader has last seen in a response. */
  readonly shownBudgets: ShownAmounts
  readonly providerMessages: Pick<ProviderMessages, 'find'>
  /** The channel types that a provider profile serves. */
  readonly servedTypes: readonly number[]
  /** The served channel types that support chat. */
  readonly chatTypes: readonly number[]
}

/** The types of its handlers are derived from the route schemas. */
export type App = ReturnType<typeof withTypes>
export const withTypes = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

const WAIT_MAX_MS = 2_000

/**
 * A `preHandler` that waits, up to a time limit, until the named read models have reached the
 * position in the header `X-After-Position`.
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
 * Returns the page number (`p`, from 0) and the page size of a query validated with `PageQuery`.
 * With `after`, the page starts below this row, and no row is skipped by an offset.
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

/** Returns the requested order (see `sortedBy`), by default by id, newest first. */
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

/** Returns the id in the actor `user:7`; null for every other actor, such as `system:sweeper`. */
export const userIdOf = (actor: string): number | null =>
  /^user:[1-9]\d{0,14}$/.test(actor) ? Number(actor.slice('user:'.length)) : null
