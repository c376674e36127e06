import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'

/**
 * Returns a step that appends no events, and that rejects the append with `UserUnknown` if the user
 * does not exist or was deleted. Every append that adds texts by or about a user must contain this
 * step, because an erasure does not find texts that are added later.
 */
export const userMustExist = (userId: number): AnyStep => ({
  decider: userDecider,
  stream: userStream(userId),
  command: { type: 'MustExist' },
})
