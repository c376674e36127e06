import type { IncomingMessage } from 'node:http'
import { accountDecider } from '#domain/account/decide.ts'
import { payableBy } from '#domain/account/decide-call.ts'
import { accountStream } from '#domain/account/events.ts'
import { BODIES_BYTES_MAX, BODY_BYTES_MAX, type BodyOwner } from '#relay/limits/body-memory.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from './authenticate.ts'
import { isAnyChatFree } from './free-chats.ts'
import type { RelayDeps } from './relay-deps.ts'

/** Half of what all users have together, so that no one user can take it all. */
const SHARE_BYTES = BODIES_BYTES_MAX / 2
/** For a balance of 0 or less: the largest request there can be, for models that cost nothing. */
const UNPAID_SHARE_BYTES = BODY_BYTES_MAX
/** A body that is no longer than this is read without a look at the balance. */
const SMALL_BODY_BYTES = 1024 * 1024

/**
 * How much of the memory for bodies the user may take. For a long body, or one of a length that is
 * not known yet, the account is read: the less it can pay, the less it can take.
 */
export async function bodyOwnerOf(
  { actors }: Pick<RelayDeps, 'actors'>,
  userId: number,
  request: IncomingMessage,
): Promise<BodyOwner> {
  if (isSmall(request)) return { userId, bytesMax: SHARE_BYTES }
  try {
    const stream = accountStream(userId)
    const isPaid = await actors.ask(accountDecider, stream, ({ balance }) => balance > 0n)
    return { userId, bytesMax: isPaid ? SHARE_BYTES : UNPAID_SHARE_BYTES }
  } catch {
    // The admission will say that the store can't be read, if it still can't be then.
    return { userId, bytesMax: UNPAID_SHARE_BYTES }
  }
}

/**
 * The same for a chat, which is refused before its body is read where nothing can be paid and no
 * model is free: reading a large body costs memory, and checking it costs time of the loop.
 */
export async function chatBodyOwnerOf(
  deps: Pick<RelayDeps, 'actors' | 'views'>,
  { user: { userId }, token: { tokenId } }: Caller,
  request: IncomingMessage,
): Promise<BodyOwner | RelayError> {
  const owner = await bodyOwnerOf(deps, userId, request)
  if (isSmall(request) || isAnyChatFree(deps.views)) return owner
  try {
    const error = await deps.actors.ask(accountDecider, accountStream(userId), (state) => {
      if (state.balance <= 0n) return 'insufficient_quota'
      return payableBy(state, tokenId) <= 0n ? 'token_exhausted' : null
    })
    return error === null ? owner : relayError(error)
  } catch {
    return owner
  }
}

const isSmall = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SMALL_BODY_BYTES
