import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import {
  BODIES_BYTES_MAX,
  BODY_BYTES_MAX,
  type BodyMemoryShare,
} from '#relay/limits/body-memory.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import type { Caller } from './authenticate.ts'
import { codingIn } from './decompress-body.ts'
import type { CallRequest } from './http-request-and-response-types.ts'
import { errorWithoutQuota } from './refuse-caller-without-quota.ts'
import type { RelayDeps } from './relay-deps.ts'

/**
 * The memory that the request bodies of one user may use. It is half of the total, so that one user
 * can't use all of the memory.
 */
const SHARE_BYTES = BODIES_BYTES_MAX / 2
/**
 * The memory that the request bodies of one user and their copies may use together. Most large
 * bodies are changed before they are sent, so the memory must hold the received body and changed
 * copies of it. Other users keep a quarter of the total.
 */
const SHARE_WITH_COPIES_BYTES = (BODIES_BYTES_MAX * 3) / 4
/**
 * The memory for the request bodies of a user without balance, who may still call free models. One
 * request of the maximum size fits into it.
 */
const UNPAID_SHARE_BYTES = BODY_BYTES_MAX
/**
 * The limit for bodies and their copies is this many times the limit for bodies alone, but at most
 * `SHARE_WITH_COPIES_BYTES`.
 */
const COPIES_FACTOR = 4
/** Bodies up to this length are read without checking the balance. */
const SMALL_BODY_BYTES = 1024 * 1024

/**
 * Returns the user's memory limit for request bodies. If the body is long or its length is unknown,
 * the account is read, unless it recently had a balance. A user without balance gets a lower limit.
 */
export const bodyShareOf = (
  deps: Pick<RelayDeps, 'actors'>,
  userId: number,
  request: CallRequest,
): BodyMemoryShare | Promise<BodyMemoryShare> =>
  isSmall(request) ? { userId, bytesMax: SHARE_BYTES } : longBodyShareOf(deps, userId)

/**
 * Returns the user's memory limit for request bodies and their copies together. This limit is
 * higher than the one for bodies alone, so that a received body can usually be sent. Even a user
 * without balance can have one request of the maximum size converted.
 */
export const copiesShareOf = ({ userId, bytesMax }: BodyMemoryShare): BodyMemoryShare => ({
  userId,
  bytesMax: Math.min(SHARE_WITH_COPIES_BYTES, bytesMax * COPIES_FACTOR),
})

async function longBodyShareOf(
  { actors }: Pick<RelayDeps, 'actors'>,
  userId: number,
): Promise<BodyMemoryShare> {
  try {
    const stream = accountStream(userId)
    const hasBalance = ({ balance }: AccountState): boolean => balance > 0n
    const isPaid =
      actors.askRecent(accountDecider, stream, hasBalance) === true ||
      (await actors.ask(accountDecider, stream, hasBalance))
    return { userId, bytesMax: isPaid ? SHARE_BYTES : UNPAID_SHARE_BYTES }
  } catch {
    // The account can't be read, so the user gets the smaller share. If the event store stays
    // unavailable, the admission refuses the call later.
    return { userId, bytesMax: UNPAID_SHARE_BYTES }
  }
}

/**
 * Returns the user's memory limit for chat bodies. Returns an error if the body is long, the caller
 * can't pay and no chat model is free.
 */
export function chatBodyShareOf(
  deps: Pick<RelayDeps, 'actors' | 'views'>,
  caller: Caller,
  request: CallRequest,
): BodyMemoryShare | Promise<BodyMemoryShare | RelayError> {
  const owner = bodyShareOf(deps, caller.user.userId, request)
  if (!(owner instanceof Promise)) return owner
  return owner.then(
    async (longBodyShare) => (await errorWithoutQuota(deps, caller)) ?? longBodyShare,
  )
}

/**
 * Reports whether a request body is short. A compressed body is never treated as short, because its
 * length says nothing about the memory that it needs. A body of unknown length is not short either.
 */
const isSmall = ({ headers }: CallRequest): boolean =>
  codingIn(headers['content-encoding']) === null &&
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SMALL_BODY_BYTES
