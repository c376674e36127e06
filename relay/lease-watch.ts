import type { OpenCall } from '#projections/open-calls/query.ts'

/** Open calls whose lease is over at `now`, oldest lease first; a seam for tests. */
export type FindExpired = (now: number, limit: number) => Promise<readonly OpenCall[]>

/** Between two passes of the sweeper. */
export const SWEEP_EVERY_MS = 5_000

type Sighting = { readonly leaseUntil: number; readonly unchangedMs: number }

/**
 * Leases are compared with a clock that may be set while calls run: an hour forward, and every
 * lease looks over at once. The owner of a live call renews its lease every third of it, though,
 * whatever its clock shows. A lease therefore counts as over only when it was also seen unchanged
 * for half of its length by monotonic time. Calls are looked at that long before their lease ends,
 * so that this delays nothing while the clock runs steadily.
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

  /** The calls to interrupt in a pass that begins at `elapsedMs` of a monotonic clock. */
  at(elapsedMs: number): FindExpired {
    // While this process stood still it saw nothing, so a long pause counts as a short one.
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
