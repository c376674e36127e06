/** As far ahead as the server takes it. */
export const PLAN_DAYS_MAX = 366

/** What is wrong with the time (unix seconds; NaN for none) of a planned change. */
export function planTimeFault(seconds: number): 'scheduleAtFault' | 'scheduleAtFar' | null {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return 'scheduleAtFault'
  return aheadMs > PLAN_DAYS_MAX * 86_400_000 ? 'scheduleAtFar' : null
}
