import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core.ts'
import { afterPosition, waitsForPosition } from '#infra/http/envelope.ts'
import type { ShownAmounts } from '#infra/http/last-shown-amounts.ts'
import type { ProviderMessages } from '#infra/provider-messages/provider-messages.ts'
import type { LongResponses } from '#infra/shutdown-drain.ts'
import type { TaskProgress } from '#infra/task-progress/task-progress.ts'
import type { Freshness, ReadModelName } from '#projections/freshness/query.ts'
import type { HealthBoard } from './channels/health/health-cache.ts'

/** The dependencies that every read route receives. */
export type ReadDeps = {
  readonly core: Core
  readonly freshness: Freshness
  /** The signal that is aborted when this process starts to drain before a stop. */
  readonly draining: AbortSignal
  /**
   * Counts the long responses, for which a stop of the process waits. Without this counter, a stop
   * waits for no response.
   */
  readonly longResponses?: LongResponses
  readonly health: HealthBoard
  /** The progress of unfinished tasks. */
  readonly progress: TaskProgress
  /** The balances of users that each reader has last received. */
  readonly shownBalances: ShownAmounts
  /** The remaining quota of tokens that each reader has last received. */
  readonly shownBudgets: ShownAmounts
  readonly providerMessages: Pick<ProviderMessages, 'find'>
  /** The channel types that a provider serves. */
  readonly servedTypes: readonly number[]
  /** The elements of `servedTypes` that support chat. */
  readonly chatTypes: readonly number[]
}

/** The Fastify app. Its handlers get their types from the schemas. */
export type App = ReturnType<typeof withTypes>
export const withTypes = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

const WAIT_MAX_MS = 2_000

/**
 * Returns a `preHandler` that waits until the named read models have reached the position in the
 * request's header `X-After-Position`. The wait is limited. Without this header, the handler does
 * not wait.
 */
export const upToDate = ({ freshness }: ReadDeps, ...names: readonly ReadModelName[]) =>
  waitsForPosition(async (request: FastifyRequest): Promise<void> => {
    const position = afterPosition(request)
    if (position !== null) await freshness.waitFor(names, position, WAIT_MAX_MS)
  })

const DEFAULT_PAGE_SIZE = 10

/** Parses `p` (from 0) and the page size of a query that was validated by `PageQuery`. */
export function pageOf(query: { p?: string; page_size?: string; size?: string }): {
  page: number
  limit: number
  offset: number
} {
  const page = Number(query.p ?? 0)
  const limit = Number(query.page_size ?? query.size ?? DEFAULT_PAGE_SIZE)
  return { page, limit, offset: page * limit }
}

/** Returns the order that a query with `sortedBy` requests. The default is by id, newest first. */
export const orderOf = <Sort extends string>(query: {
  sort?: Sort | 'id' | ''
  order?: 'asc' | 'desc' | ''
}): { readonly sort: Sort | 'id'; readonly isDescending: boolean } => ({
  sort: query.sort || 'id',
  isDescending: query.order !== 'asc',
})

/** Returns the number in a filter, or undefined if the filter is missing or empty. */
export const integerOf = (value: string | undefined): number | undefined =>
  value === undefined || value === '' ? undefined : Number(value)

/** Returns the text in a filter, or undefined if the filter is missing or empty. */
export const textOf = (value: string | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : value
