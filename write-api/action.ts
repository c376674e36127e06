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
import type { Core } from '#infra/core-dependencies.ts'
import type { CommandContext, Done, Outcome } from '#infra/event-store/stream-actors-port.ts'
import { principalOf } from '#infra/http/access-checks.ts'
import type { ShownAmounts } from '#infra/http/last-shown-amounts.ts'
import type { Mailer } from '#infra/mail/port.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import type { IdParams } from '#read-api/contract/response-envelope.ts'
import type { NextIds } from './assign-next-id.ts'
import type { ServedTypes } from './channels/channel-terms-from-request.ts'
import { toHttpError } from './error-catalogue.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { Providers } from './oauth/configured-oauth-providers.ts'
import type { HumanCheck } from './sessions/human-check.ts'
import type { LoginGuard } from './sessions/login-guard.ts'
import type { SetupToken } from './setup/setup-token.ts'

/** The types of each handler are derived from its schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type Deps = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  /** The supported channel types, with the fields that they require. */
  readonly servedTypes: ServedTypes
  readonly runExclusive: KeyedMutex
  readonly nextIds: NextIds
  readonly loginGuard: LoginGuard
  /** The balances that each reader has last seen in a response. */
  readonly shownBalances: ShownAmounts
  /** The token budgets that each reader has last seen in a response. */
  readonly shownBudgets: ShownAmounts
  readonly setupToken: SetupToken
  readonly mailer: Mailer
  readonly humanCheck: HumanCheck
  readonly providers: Providers
  readonly outbound: Outbound
  /** The outbound policy, which determines the addresses that channels may use. */
  readonly upstreams: OutboundPolicy
}

/** Registers one route with its schema and its handler. */
export type Action = (api: Api, deps: Deps) => void

const FRESH_WITHIN_MS = 2_000

/**
 * Returns what all events of a request record: the actor, the request's id as the cause, and the
 * time.
 */
export const contextOf = ({ core }: Deps, request: FastifyRequest): CommandContext => ({
  actor: `user:${principalOf(request).userId}`,
  cause: request.id,
  at: core.now(),
})

/** Returns the events of a command, or throws its error, which the error handler translates. */
export function accepted<E extends Fact>(outcome: Outcome<E, CodedError>): Done<E> {
  if (!outcome.isDone) throw toHttpError(outcome.error)
  return outcome
}

/**
 * Sends the position of a write in the header `X-Position`. The response waits up to two seconds
 * until the named read models include the write, so that the caller's next request sees the change.
 * The write is already committed.
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

export const idOf = ({ id }: Static<typeof IdParams>): number => Number(id)
