import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Core } from '#infra/core.ts'
import type { LongResponses } from '#infra/drain.ts'
import { afterPosition, waitsForPosition } from '#infra/http/envelope.ts'
import type { ShownBalances } from '#infra/http/shown-balances.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { ProviderMessages } from '#infra/provider-messages/provider-messages.ts'
import type { Freshness, ReadModelName } from '#projections/freshness/query.ts'
import type { HealthBoard } from './channels/health/health-board.ts'
import { PageQuery } from './contract/envelope.ts'

/** What every question is given. */
export type ReadDeps = {
  readonly core: Core
  readonly freshness: Freshness
  /** Aborted once this process is about to stop. */
  readonly draining: AbortSignal
  /** Counts answers that a stop waits for; none, where it waits for none. */
  readonly longResponses?: LongResponses
  readonly health: HealthBoard
  /** Of tasks under way. */
  readonly progress: Progress
  readonly shownBalances: ShownBalances
  readonly providerMessages: Pick<ProviderMessages, 'find'>
  /** Types of channels that some provider serves. */
  readonly servedTypes: readonly number[]
  /** Those of them that take chats. */
  readonly chatTypes: readonly number[]
}

/** The app, with handlers typed by their schemas. */
export type App = ReturnType<typeof typed>
export const typed = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

const WAIT_MAX_MS = 2_000

/**
 * preHandler: a read that carries `X-After-Position` waits (for a bounded time) until the read
 * models that it is answered from include that position.
 */
export const upToDate = ({ freshness }: ReadDeps, ...names: readonly ReadModelName[]) =>
  waitsForPosition(async (request: FastifyRequest): Promise<void> => {
    const position = afterPosition(request)
    if (position !== null) await freshness.waitFor(names, position, WAIT_MAX_MS)
  })

const DEFAULT_PAGE_SIZE = 10

/** `p` from 0 and the page's size, from a query that `PageQuery` has checked. */
export function pageOf(query: { p?: string; page_size?: string; size?: string }): {
  page: number
  limit: number
  offset: number
} {
  const page = Number(query.p ?? 0)
  const limit = Number(query.page_size ?? query.size ?? DEFAULT_PAGE_SIZE)
  return { page, limit, offset: page * limit }
}

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/** Pieces of query schemas. Texts are filters: empty ones let everything through. */
export const Query = {
  page: PageQuery,
  text: text(200),
  flag: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('')])),
  /** A whole number, or empty for none. */
  whole: Type.Optional(Type.String({ pattern: '^[0-9]{0,15}$' })),
}

export const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })

/** A filter's number; undefined when it was left out or empty. */
export const wholeOf = (given: string | undefined): number | undefined =>
  given === undefined || given === '' ? undefined : Number(given)

/** A filter's text; undefined when it was left out or empty. */
export const textOf = (given: string | undefined): string | undefined =>
  given === undefined || given === '' ? undefined : given
