import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify'
import type { Static } from 'typebox'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { CommandContext, Done, Outcome } from '#infra/event-store/actors-port.ts'
import { principalOf } from '#infra/http/access.ts'
import type { ShownBalances } from '#infra/http/shown-balances.ts'
import type { Mailer } from '#infra/mail/port.ts'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { OutboundPolicy } from '#infra/outbound/guard.ts'
import type { Freshness } from '#projections/freshness/query.ts'
import type { IdParams } from '#read-api/contract/envelope.ts'
import type { ServedTypes } from './channels/channel-terms.ts'
import { toHttpError } from './error-catalogue.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { NextIds } from './next-id.ts'
import type { Providers } from './oauth/providers.ts'
import type { HumanCheck } from './sessions/human-check.ts'
import type { LoginGuard } from './sessions/login-guard.ts'
import type { SetupToken } from './setup/setup-token.ts'

/** The app as actions register on it: handlers are typed by their schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The dependencies that every action receives. */
export type Deps = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  /** The channel types that a provider serves, each with the fields that it requires. */
  readonly servedTypes: ServedTypes
  readonly runExclusive: KeyedMutex
  readonly nextIds: NextIds
  readonly loginGuard: LoginGuard
  readonly shownBalances: ShownBalances
  readonly setupToken: SetupToken
  readonly mailer: Mailer
  readonly humanCheck: HumanCheck
  readonly providers: Providers
  /** HTTP client for the OAuth providers. */
  readonly outbound: Outbound
  /** The rule that decides which addresses channels may use. */
  readonly upstreams: OutboundPolicy
}

/** One action: its route, its schema and what it does. */
export type Action = (api: Api, deps: Deps) => void

const FRESH_WITHIN_MS = 2_000

/** Actor, cause (the request's id) and time, which every event of an action carries. */
export const contextOf = ({ core }: Deps, request: FastifyRequest): CommandContext => ({
  actor: `user:${principalOf(request).userId}`,
  cause: request.id,
  at: core.now(),
})

/**
 * Returns the events that were appended. Throws the error of a rejected command, which the error
 * handler renders in the caller's language.
 */
export function accepted<E extends Fact>(outcome: Outcome<E, CodedError>): Done<E> {
  if (!outcome.isDone) throw toHttpError(outcome.error)
  return outcome
}

/**
 * Sends the position of the write in `X-Position` and delays the response until the read models
 * behind the caller's screens include it, for two seconds at most. The write is committed either
 * way.
 */
export async function waitUntilVisible(
  { freshness }: Deps,
  reply: FastifyReply,
  names: Parameters<Freshness['waitFor']>[0],
  position: number,
): Promise<void> {
  reply.header('x-position', String(position))
  await freshness.waitFor(names, position, FRESH_WITHIN_MS)
}

/** Returns the id of a path whose schema is `IdParams`. */
export const idOf = ({ id }: Static<typeof IdParams>): number => Number(id)
