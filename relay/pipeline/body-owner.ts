import type { IncomingMessage } from 'node:http'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { BODIES_BYTES_MAX, BODY_BYTES_MAX, type BodyOwner } from '#relay/limits/body-memory.ts'
import type { RelayParts } from './relay-parts.ts'

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
  { actors }: Pick<RelayParts, 'actors'>,
  userId: number,
  { headers }: IncomingMessage,
): Promise<BodyOwner> {
  const length = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (length <= SMALL_BODY_BYTES) return { userId, bytesMax: SHARE_BYTES }
  try {
    const stream = accountStream(userId)
    const isPaid = await actors.ask(accountDecider, stream, ({ balance }) => balance > 0n)
    return { userId, bytesMax: isPaid ? SHARE_BYTES : UNPAID_SHARE_BYTES }
  } catch {
    // The admission will say that the store can't be read, if it still can't be then.
    return { userId, bytesMax: UNPAID_SHARE_BYTES }
  }
}
