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
import { contextOfRequest } from '#infra/http/command-context.ts'
import type { ShownAmounts } from '#infra/http/remember-shown-balances-and-budgets.ts'
import type { Mailer } from '#infra/mail/port.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import type { IdParams } from '#read-api/contract/request-parameters.ts'
import type { NextIds } from './assign-next-id.ts'
import type { ServedTypes } from './channels/channel-terms-from-request.ts'
import { toHttpError } from './domain-error-catalogue.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { Providers } from './oauth/configured-oauth-providers.ts'
import type { HumanCheck } from './sessions/human-check.ts'
import type { LoginGuard } from './sessions/login-throttling.ts'
import type { FailedLogins } from './sessions/record-failed-logins.ts'
import type { SetupToken } from './setup/setup-token.ts'
import type { WakeSignal } from './wake-signal.ts'

/**
 * The HTTP server on which actions are registered. The types of each handler are derived from the
 * schemas of its route.
 */
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
  /** The channel types that the relay supports, with the fields that each of them requires. */
  readonly servedTypes: ServedTypes
  readonly runExclusive: KeyedMutex
  readonly nextIds: NextIds
  readonly loginGuard: LoginGuard
  readonly failedLogins: FailedLogins
  /** Remembers the balances that each session or access token received last. */
  readonly shownBalances: ShownAmounts
  /** Remembers the token budgets that each session or access token received last. */
  readonly shownBudgets: ShownAmounts
  readonly setupToken: SetupToken
  readonly mailer: Mailer
  readonly humanCheck: HumanCheck
  readonly providers: Providers
  readonly outbound: Outbound
  /** Wakes the background job that completes erasures. */
  readonly erasureSignal: WakeSignal
  /** Decides which addresses of providers the site may send requests to. */
  readonly upstreams: OutboundPolicy
}

/** Registers one route with its schema and its handler. */
export type Action = (api: Api, deps: Deps) => void

const FRESH_WITHIN_MS = 2_000

/**
 * Returns the actor, client, time and cause that every event of an authenticated request records.
 */
export const contextOf = ({ core }: Deps, request: FastifyRequest): CommandContext =>
  contextOfRequest(request, core.now())

/** Returns the result of a successful command. Throws an HTTP error for a rejected command. */
export function accepted<E extends Fact>(outcome: Outcome<E, CodedError>): Done<E> {
  if (!outcome.isDone) throw toHttpError(outcome.error)
  return outcome
}

/**
 * Waits until the named read models include the event at `position`, but at most two seconds. If
 * the wait is long enough, the caller's next request sees the change. Also sets the response header
 * `X-Position` to `position`.
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
