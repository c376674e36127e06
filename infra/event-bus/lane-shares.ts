import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Lease, Leases } from '../leases/leases.ts'
import { ALL_LANES, LANE_COUNT } from './lanes.ts'

export type Shareholder = {
  /** Kept current here; read by whoever writes under these leases. */
  readonly held: Map<number, Lease>
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  readonly onLost: (lanes: readonly number[]) => void
}

type Deps = { readonly leases: Leases; readonly log: Logger; readonly ttlMs: number }

/**
 * Divides the lanes fairly among the processes that work under `name`. Each of them holds one of
 * `LANE_COUNT` seats, so that everybody can count the others by their leases; a process without a
 * seat stands by. One alone has all lanes after its first turn.
 */
export function shareLanes(
  { leases, log, ttlMs }: Deps,
  name: string,
  holder: Shareholder,
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController()
  const share = new Share(leases, ttlMs, name, holder)
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const isContent = await share.turn().catch((err: unknown) => {
        log.warn({ err, work: name }, 'the lanes can not be divided just now')
        return false
      })
      share.dropExpired()
      // Whoever lacks lanes looks again soon: somebody is about to give them back.
      const pauseMs = (ttlMs / (isContent ? 5 : 25)) * (0.8 + 0.4 * Math.random())
      await delay(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
      await share.leave().catch(() => {})
    },
  }
}

class Share {
  private readonly leases: Leases
  private readonly ttlMs: number
  private readonly name: string
  private readonly holder: Shareholder
  private seat: Lease | null = null
  /** Nobody can have taken what is held before this moment of this process's own clock. */
  private knownUntil = 0

  constructor(leases: Leases, ttlMs: number, name: string, holder: Shareholder) {
    this.leases = leases
    this.ttlMs = ttlMs
    this.name = name
    this.holder = holder
  }

  /** Answers whether it has what is its due. */
  async turn(): Promise<boolean> {
    const { held } = this.holder
    await this.renew()
    const due = await this.findDue()
    if (held.size > due) await this.giveUp([...held.keys()].sort((a, b) => a - b).slice(due))
    else if (held.size < due) await this.gain(due - held.size)
    return held.size === due
  }

  /** While the database can't be asked, others may have taken over. */
  dropExpired(): void {
    if (performance.now() <= this.knownUntil) return
    this.seat = null
    this.lose([...this.holder.held.keys()])
  }

  async leave(): Promise<void> {
    await this.giveUp([...this.holder.held.keys()])
    if (this.seat !== null) await this.leases.release(this.seat)
  }

  private async renew(): Promise<void> {
    const { held } = this.holder
    const askedAt = performance.now()
    const mine = [...held.values(), ...(this.seat === null ? [] : [this.seat])]
    const kept = await this.take(mine.map((lease) => lease.name))
    this.knownUntil = askedAt + this.ttlMs
    const isKept = ({ name, fence }: Lease): boolean => kept.get(name)?.fence === fence
    if (this.seat !== null && !isKept(this.seat)) this.seat = null
    // One that was another's meanwhile comes back as a new one, in the same turn.
    this.lose([...held].filter(([, lease]) => !isKept(lease)).map(([lane]) => lane))
  }

  /** How many lanes this process should have; finds it a seat first. */
  private async findDue(): Promise<number> {
    const seats = await this.leases.holders(`seat:${this.name}:`)
    if (this.seat === null) {
      const free = ALL_LANES.map((n) => `seat:${this.name}:${n}`).find((seat) => !seats.has(seat))
      if (free !== undefined) this.seat = await this.leases.acquire(free, this.ttlMs)
    }
    if (this.seat === null) return 0
    seats.set(this.seat.name, this.leases.owner)
    const rank = [...seats.keys()].sort().indexOf(this.seat.name)
    // The first ones have one more, where it does not come out even.
    return Math.floor(LANE_COUNT / seats.size) + (rank < LANE_COUNT % seats.size ? 1 : 0)
  }

  private async gain(wanted: number): Promise<void> {
    const { held } = this.holder
    const taken = await this.leases.holders(`lane:${this.name}:`)
    const isFree = (lane: number): boolean =>
      !held.has(lane) && [undefined, this.leases.owner].includes(taken.get(this.leaseOf(lane)))
    const asked = ALL_LANES.filter(isFree).slice(0, wanted)
    const given = await this.take(asked.map((lane) => this.leaseOf(lane)))
    const gained: number[] = []
    for (const lane of asked) {
      const lease = given.get(this.leaseOf(lane))
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

  private async giveUp(lanes: readonly number[]): Promise<void> {
    const given = lanes.map((lane) => this.holder.held.get(lane))
    this.lose(lanes)
    for (const lease of given) if (lease !== undefined) await this.leases.release(lease)
  }

  private lose(lanes: readonly number[]): void {
    for (const lane of lanes) this.holder.held.delete(lane)
    if (lanes.length > 0) this.holder.onLost(lanes)
  }

  private async take(names: readonly string[]): Promise<Map<string, Lease>> {
    if (names.length === 0) return new Map()
    const leases = await this.leases.acquireAll(names, this.ttlMs)
    return new Map(leases.map((lease) => [lease.name, lease]))
  }

  private leaseOf(lane: number): string {
    return `lane:${this.name}:${lane}`
  }
}
