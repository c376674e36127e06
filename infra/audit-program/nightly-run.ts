const HOUR = 3
const DAY_MS = 86_400_000
/** The time after a start when a verification that was missed is made up for. */
const MAKE_UP_AFTER_MS = 15 * 60_000

/**
 * Returns the time of the next nightly verification in unix milliseconds: the next 03:00 in the
 * local time of the machine. If the last verification was requested more than a day before `now`,
 * it is made up for 15 minutes later.
 */
export function nextNightlyRun(now: number, lastRequestedAt: number | null): number {
  const next = new Date(now)
  next.setHours(HOUR, 0, 0, 0)
  if (next.getTime() <= now) next.setDate(next.getDate() + 1)
  const isMissed = lastRequestedAt !== null && now - lastRequestedAt > DAY_MS
  return isMissed ? Math.min(next.getTime(), now + MAKE_UP_AFTER_MS) : next.getTime()
}
