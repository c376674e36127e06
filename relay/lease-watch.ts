import type { OpenCall } from '#projections/open-calls/query.ts'

/** Finds open calls whose lease has expired at `now`, oldest lease first. */
export type FindExpired = (now: number, limit: number) => Promise<readonly OpenCall[]>

/** The interval between two passes of the sweeper. */
export const SWEEP_EVERY_MS = 5_000

type Sighting = { readonly leaseUntil: number; readonly unchangedMs: number }

/**
 * Decides which expired leases to believe. Leases are compared with a clock that may be set while
 * calls run: if it is set an hour forward, every lease seems to have expired. The owner of a live
 * call renews its lease every third of the lease's length, whatever its clock shows. Therefore a
 * lease counts as expired only when it was also unchanged for half of its length in monotonic time.
 * Calls are observed for that long before their lease ends, so this causes no delay while the clock
 * runs steadily.
 */
export class LeaseWatch {
  private readonly find: FindExpired
  private readonly unchangedMsMin: number
  private sightings: ReadonlyMap<string, Sighting> = new Map()
  private lookedAt: number | null = null

  constructor(find: FindExpired, leaseMs: number) {
    this.find = find
    this.unchangedMsMin = leaseMs / 2
  }

  /**
   * Returns the search for calls to interrupt in a pass that begins at `elapsedMs` of a monotonic
   * clock.
   */
  at(elapsedMs: number): FindExpired {
    // A process that was suspended saw no renewals, so a long pause counts as a short one.
    const passedMs = Math.min(elapsedMs - (this.lookedAt ?? elapsedMs), 2 * SWEEP_EVERY_MS)
    this.lookedAt = elapsedMs
    return async (now, limit) => {
      const open = await this.find(now + this.unchangedMsMin + SWEEP_EVERY_MS, limit)
      const before = this.sightings
      const sightings = new Map<string, Sighting>()
      for (const { call, leaseUntil } of open) {
        const known = before.get(call)
        const unchangedMs = known?.leaseUntil === leaseUntil ? known.unchangedMs + passedMs : 0
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
