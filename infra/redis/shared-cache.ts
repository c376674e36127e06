import type { RedisClient } from './connect-redis.ts'
import { inTime } from './shared-limits.ts'

/**
 * A cache that all processes share. The values can be lost at any time, so nothing must depend on
 * them. No method rejects, and none waits for long.
 */
export type SharedCache = {
  /**
   * Resolves to the cached value. Resolves to null if there is none or Redis does not answer in
   * time. While Redis is unavailable, returns null instead of a promise.
   */
  readonly get: (key: string) => Promise<string | null> | null
  /** Stores a value in the background. With `isKept`, an existing value is not replaced. */
  readonly put: (key: string, value: string, ttlMs: number, isKept?: boolean) => void
  readonly remove: (key: string) => void
}

const ANSWER_MS = 50
/**
 * The time in milliseconds after a failure during which Redis is not asked, so that an unavailable
 * Redis does not slow down calls.
 */
const PAUSE_MS = 1_000
/**
 * The maximum number of commands that wait for an answer, so that a slow Redis can't fill the
 * memory.
 */
const PENDING_MAX = 1_000

export function createSharedCache(
  redis: RedisClient,
  { answerMs = ANSWER_MS, now = () => performance.now() } = {},
): SharedCache {
  let pausedUntil = 0
  let pending = 0
  const isUnavailable = (): boolean => pending >= PENDING_MAX || now() < pausedUntil
  const pause = (): null => {
    pausedUntil = now() + PAUSE_MS
    return null
  }
  const send = <T>(command: () => Promise<T>): Promise<T | null> => {
    pending += 1
    const answer = (async () => command())()
    const counted = answer.finally(() => {
      pending -= 1
    })
    return inTime(counted, answerMs).catch(pause)
  }
  const inBackground = (command: () => Promise<unknown>): void => {
    if (!isUnavailable()) void send(command)
  }
  return {
    get: (key) => (isUnavailable() ? null : send(() => redis.get(nameOf(key)))),
    put: (key, value, ttlMs, isKept = false) => {
      const ms = Math.max(1, Math.ceil(ttlMs))
      inBackground(() =>
        isKept
          ? redis.set(nameOf(key), value, 'PX', ms, 'NX')
          : redis.set(nameOf(key), value, 'PX', ms),
      )
    },
    remove: (key) => inBackground(() => redis.del(nameOf(key))),
  }
}

const nameOf = (key: string): string => `tallygate:cache:${key}`
