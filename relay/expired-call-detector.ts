import type { OpenCall } from '#projections/open-calls/query.ts'

/**
 * Finds at most `limit` open calls whose lease has expired at the time `now`, oldest lease first.
 */
export type FindExpired = (now: number, limit: number) => Promise<readonly OpenCall[]>

/** The interval of the sweeper, which ends calls with an expired lease. */
export const SWEEP_EVERY_MS = 5_000

type Sighting = { readonly leaseUntil: number; readonly unchangedMs: number }

/**
 * Decides which leases have really expired. If the wall clock is set forward, every lease seems to
 * have expired, although running calls renew their leases. A lease must therefore also stay
 * unchanged for half of its length in monotonic time. This check causes no delay, because it begins
 * before the lease ends.
 */
export class ExpiredCallDetector {
  private readonly find: FindExpired
  private readonly unchangedMsMin: number
  private sightings: ReadonlyMap<string, Sighting> = new Map()
  private lookedAt: number | null = null

  constructor(find: FindExpired, leaseMs: number) {
    this.find = find
    this.unchangedMsMin = leaseMs / 2
  }

  /**
   * Returns the function that finds the calls to end in one pass of the sweeper. `elapsedMs` is the
   * monotonic time at which the pass begins.
   */
  finderAt(elapsedMs: number): FindExpired {
    // A suspended process can't see whether leases are renewed, so the time of a suspension must
    // not count. The time since the previous pass is therefore limited to two sweep intervals.
    const passedMs = Math.min(elapsedMs - (this.lookedAt ?? elapsedMs), 2 * SWEEP_EVERY_MS)
    this.lookedAt = elapsedMs
    return async (now, limit) => {
      const open = await this.find(now + this.unchangedMsMin + SWEEP_EVERY_MS, limit)
      const before = this.sightings
      const sightings = new Map<string, Sighting>()
      for (const { call, leaseUntil } of open) {
        const earlier = before.get(call)
        const unchangedMs = earlier?.leaseUntil === leaseUntil ? earlier.unchangedMs + passedMs : 0
        sightings.set(call, { leaseUntil, unchangedMs })
      }
      this.sightings = sightings
      return open.filter(({ call, leaseUntil }) => {
        const { unchangedMs = 0 } = sightings.get(call) ?? {}
        return leaseUntil < now && unchangedMs >= this.unchangedMsMin
      })
    }
  }
}
