/** The server's limit. */
export const PLAN_DAYS_MAX = 366

/** The error of a planned time (unix seconds; NaN for none). */
export function planTimeFault(seconds: number): 'scheduleAtFault' | 'scheduleAtFar' | null {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return 'scheduleAtFault'
  return aheadMs > PLAN_DAYS_MAX * 86_400_000 ? 'scheduleAtFar' : null
}
