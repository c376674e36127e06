/** Some providers answer 403 to what a caller wrote, too. */
const MAY_BE_CALLERS = 'status-403'

type Count = { hits: number; since: number; readonly users: Set<number> }

export type TroubleRule = { readonly failures: number; readonly windowMs: number }

/**
 * How often each channel's account was refused with no success in between. What may be one
 * caller's own doing counts once for each caller.
 */
export class AccountTroubles {
  private readonly counts = new Map<number | string, Count>()

  /** Whether it counts, and whether it is too often by now; then it is counted anew. */
  note(
    key: number | string,
    { reason, userId, now }: { reason: string; userId: number; now: number },
    { failures, windowMs }: TroubleRule,
  ): { readonly isCounted: boolean; readonly isTooOften: boolean } {
    const known = this.counts.get(key)
    const count =
      known !== undefined && now - known.since <= windowMs
        ? known
        : { hits: 0, since: now, users: new Set<number>() }
    this.counts.set(key, count)
    const isCounted = reason !== MAY_BE_CALLERS || !count.users.has(userId)
    if (isCounted) count.hits += 1
    if (reason === MAY_BE_CALLERS) count.users.add(userId)
    const isTooOften = count.hits >= failures
    if (isTooOften) this.counts.delete(key)
    return { isCounted, isTooOften }
  }

  succeed(key: number | string): void {
    if (this.counts.size > 0) this.counts.delete(key)
  }
}
