import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'

/**
 * Returns a step without events that refuses the other steps of its append with `UserUnknown` if
 * the user was deleted. Appends that add texts by or about a user contain it, because the erasure
 * of the user does not find texts that are added after it.
 */
export const userMustExist = (userId: number): AnyStep => ({
  decider: userDecider,
  stream: userStream(userId),
  command: { type: 'MustExist' },
})
