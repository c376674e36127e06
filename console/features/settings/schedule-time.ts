/** The server's limit for planned times, in days from now. */
export const PLAN_DAYS_MAX = 366

/**
 * Checks a planned time in unix seconds. Returns null if the time is valid. NaN means that no time
 * is set.
 */
export function planTimeFault(seconds: number): 'scheduleAtFault' | 'scheduleAtFar' | null {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return 'scheduleAtFault'
  return aheadMs > PLAN_DAYS_MAX * 86_400_000 ? 'scheduleAtFar' : null
}
