import { fault } from '#infra/http/faults.ts'
import { isFull } from '#infra/limits/port.ts'
import type { Parts } from '../act.ts'

const FREE_TRIES = 5
const DELAY_MS_MAX = 15 * 60_000
const FORGET_AFTER_MS = 24 * 3_600_000

/**
 * Slows down who guesses codes of a user, over all tickets and sessions: after five wrong ones each
 * further try waits twice as long, a quarter of an hour at most, so a hundred a day. Only those who
 * know the password get here, so nobody else can keep the user out. Throws a 429; answers what to
 * call once the code was right.
 */
export async function tryCode({ core }: Parts, userId: number): Promise<() => void> {
  const outcome = await core.limits.enter('login', [
    {
      kind: 'backoff',
      key: `second-factor:${userId}`,
      freeTries: FREE_TRIES,
      delayMsMax: DELAY_MS_MAX,
      forgetMs: FORGET_AFTER_MS,
    },
  ])
  if (isFull(outcome)) throw fault('TooManyRequests', Math.ceil(outcome.waitMs / 1_000))
  return () => outcome.leave({ isRefunded: true })
}
