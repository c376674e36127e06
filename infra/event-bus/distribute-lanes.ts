import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Lease, Leases } from '../leases/exclusive-leases.ts'
import { ALL_LANES, LANE_COUNT } from './lane-of-stream.ts'

export type LaneHolder = {
  /**
   * The leases of this process, by lane. The balancer changes this map, and the caller of
   * `balanceLanes` reads it.
   */
  readonly held: Map<number, Lease>
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  readonly onLost: (lanes: readonly number[]) => void
}

type Deps = { readonly leases: Leases; readonly log: Logger; readonly ttlMs: number }

/**
 * The maximum pause in milliseconds before the next attempt of a process that does not hold as many
 * lanes as it should. Without this limit, the pause would be a part of the lease time, which is
 * several minutes for a process with its own Postgres. The events of missing lanes wait during the
 * pause.
 */
const RETRY_MS_MAX = 2_500

/**
 * Distributes the lanes evenly among the processes that work under `name`. Each process acquires
 * one of `LANE_COUNT` member leases, so that the processes can count each other. A process without
 * a member lease gets no lanes.
 */
export function balanceLanes(
  { leases, log, ttlMs }: Deps,
  name: string,
  holder: LaneHolder,
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController()
  const balancer = new LaneBalancer(leases, ttlMs, name, holder)
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const isBalanced = await balancer.rebalance().catch((err: unknown) => {
        log.warn({ err, work: name }, 'distributing the lanes failed and will be retried')
        return false
      })
      balancer.dropExpired()
      const retryMs = Math.min(ttlMs / 25, RETRY_MS_MAX)
      const pauseMs = (isBalanced ? ttlMs / 5 : retryMs) * (0.8 + 0.4 * Math.random())
      await delay(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
      await balancer.releaseAll().catch(() => {})
    },
  }
}

class LaneBalancer {
  private readonly leases: Leases
  private readonly ttlMs: number
  private readonly name: string
  private readonly holder: LaneHolder
  private membership: Lease | null = null
  /**
   * The time of `performance.now()` until which no other process can acquire this process's leases.
   */
  private validUntil = 0

  constructor(leases: Leases, ttlMs: number, name: string, holder: LaneHolder) {
    this.leases = leases
    this.ttlMs = ttlMs
    this.name = name
    this.holder = holder
  }

  /**
   * Renews the leases, and acquires or releases lanes. Returns true if this process holds as many
   * lanes as it should afterwards.
   */
  async rebalance(): Promise<boolean> {
    const { held } = this.holder
    await this.renew()
    const share = await this.fairShare()
    if (held.size > share) await this.release([...held.keys()].sort((a, b) => a - b).slice(share))
    else if (held.size < share) await this.acquireMore(share - held.size)
    return held.size === share
  }

  /** Drops expired leases, because other processes may have acquired these leases. */
  dropExpired(): void {
    if (performance.now() <= this.validUntil) return
    this.membership = null
    this.lose([...this.holder.held.keys()])
  }

  async releaseAll(): Promise<void> {
    await this.release([...this.holder.held.keys()])
    if (this.membership !== null) await this.leases.release(this.membership)
  }

  private async renew(): Promise<void> {
    const { held } = this.holder
    const requestedAt = performance.now()
    const heldLeases = [...held.values(), ...(this.membership === null ? [] : [this.membership])]
    const renewed = await this.acquireByName(heldLeases.map((lease) => lease.name))
    this.validUntil = requestedAt + this.ttlMs
    const isRenewed = ({ name, fence }: Lease): boolean => renewed.get(name)?.fence === fence
    if (this.membership !== null && !isRenewed(this.membership)) this.membership = null
    // `onLost` must run for a lost lane before this process acquires the lane again in this round.
    this.lose([...held].filter(([, lease]) => !isRenewed(lease)).map(([lane]) => lane))
  }

  /**
   * Returns how many lanes this process should hold. If this process has no member lease yet, first
   * tries to acquire one. Returns 0 without a member lease.
   */
  private async fairShare(): Promise<number> {
    const members = await this.leases.holders(`seat:${this.name}:`)
    if (this.membership === null) {
      const free = ALL_LANES.map((n) => `seat:${this.name}:${n}`).find(
        (member) => !members.has(member),
      )
      if (free !== undefined) this.membership = await this.leases.acquire(free, this.ttlMs)
    }
    if (this.membership === null) return 0
    members.set(this.membership.name, this.leases.owner)
    const rank = [...members.keys()].sort().indexOf(this.membership.name)
    // Lanes that can't be divided evenly go to the members with the lowest ranks, one lane each.
    return Math.floor(LANE_COUNT / members.size) + (rank < LANE_COUNT % members.size ? 1 : 0)
  }

  private async acquireMore(missing: number): Promise<void> {
    const { held } = this.holder
    const holders = await this.leases.holders(`lane:${this.name}:`)
    const isFree = (lane: number): boolean =>
      !held.has(lane) && [undefined, this.leases.owner].includes(holders.get(this.leaseOf(lane)))
    const candidates = ALL_LANES.filter(isFree).slice(0, missing)
    const acquired = await this.acquireByName(candidates.map((lane) => this.leaseOf(lane)))
    const gained: number[] = []
    for (const lane of candidates) {
      const lease = acquired.get(this.leaseOf(lane))
      if (lease === undefined) continue
      held.set(lane, lease)
      gained.push(lane)
    }
    if (gained.length === 0) return
    try {
      await this.holder.onGained(gained)
    } catch (error) {
      this.lose(gained)
      throw error
    }
  }

  private async release(lanes: readonly number[]): Promise<void> {
    const released = lanes.map((lane) => this.holder.held.get(lane))
    this.lose(lanes)
    for (const lease of released) if (lease !== undefined) await this.leases.release(lease)
  }

  private lose(lanes: readonly number[]): void {
    for (const lane of lanes) this.holder.held.delete(lane)
    if (lanes.length > 0) this.holder.onLost(lanes)
  }

  private async acquireByName(names: readonly string[]): Promise<Map<string, Lease>> {
    if (names.length === 0) return new Map()
    const leases = await this.leases.acquireAll(names, this.ttlMs)
    return new Map(leases.map((lease) => [lease.name, lease]))
  }

  private leaseOf(lane: number): string {
    return `lane:${this.name}:${lane}`
  }
}
