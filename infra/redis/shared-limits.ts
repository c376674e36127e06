import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { createMemoryLimits, type MemoryLimits } from '../limits/memory-limits.ts'
import {
  type Claim,
  type Full,
  isFull,
  type Limits,
  type Permit,
  type PermitEnd,
  type PermitsClaim,
} from '../limits/port.ts'
import { reasonOf } from '../telemetry/log.ts'
import type { RedisLimits, RemotePermit, Sharers } from './redis-limits.ts'

export type SharedLimits = Limits & {
  /** Of the relay's calls: the same counts, but lost, only relays share them. */
  readonly calls: Limits
  /** How many processes share the limits, as far as this one knows. */
  readonly instances: (sharers?: Sharers) => number
  readonly close: () => Promise<void>
}

export type SharedLimitsDeps = {
  readonly redis: RedisLimits
  readonly log: Logger
  readonly now: () => number
  /** Longer than this and a call is decided here. */
  readonly answerMs?: number
}

export const SEAT_LEASE_MS = 10_000
const BEAT_MS = 2_500
const LOST_BEAT_MS = 500
const ANSWER_MS = 100
const SHARERS: readonly Sharers[] = ['calls', 'site']

/** A permit under way, and its double in this process's own limits, if there is need for one. */
type Held = { readonly remote: RemotePermit; local: Permit | null; readonly since: number }
/** One that was left while Redis could not be told. */
type Left = { readonly remote: RemotePermit; readonly end: PermitEnd; readonly at: number }

/**
 * Limits shared through Redis while it answers; else this process's own, of which it has the share
 * that it would have among all. Permits under way are counted on both sides of such a change.
 */
export async function startSharedLimits(deps: SharedLimitsDeps): Promise<SharedLimits> {
  const link = new Link(deps)
  await link.beat()
  const viewOf = (sharers: Sharers): Limits => ({
    enter: (owner, claims) => link.enter(sharers, owner, claims),
    isDegraded: () => link.isLost,
  })
  return {
    ...viewOf('site'),
    calls: viewOf('calls'),
    instances: (sharers = 'site') => link.instances[sharers],
    close: () => link.close(),
  }
}

class Link {
  isLost = false
  readonly instances: Record<Sharers, number> = { calls: 1, site: 1 }
  private readonly redis: RedisLimits
  private readonly log: Logger
  private readonly local: MemoryLimits
  private readonly answerMs: number
  private readonly instance = randomUUID()
  private readonly held = new Set<Held>()
  private left: Left[] = []
  /** A process that decided nothing of a kind has no share of it. */
  private readonly sharesIn = new Set<Sharers>()
  private entries = 0
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor({ redis, log, now, answerMs = ANSWER_MS }: SharedLimitsDeps) {
    this.answerMs = answerMs
    this.redis = redis
    this.log = log
    this.local = createMemoryLimits(now)
  }

  enter(
    sharers: Sharers,
    owner: string,
    claims: readonly Claim[],
  ): Permit | Full | Promise<Permit | Full> {
    this.sharesIn.add(sharers)
    return this.isLost
      ? this.enterHere(sharers, owner, claims)
      : this.enterThere(sharers, owner, claims)
  }

  /** Shows that this process lives, and its permits: so it finds out whether Redis takes writes. */
  async beat(): Promise<void> {
    try {
      const counted = await inTime(
        Promise.all(SHARERS.map((kind) => this.count(kind))),
        this.answerMs,
      )
      await this.redis.renew(this.seatsToRenew())
      for (const [kind, instances] of counted) this.instances[kind] = Math.max(1, instances)
      this.found()
    } catch (err) {
      this.lose(err)
    }
    this.beatLater()
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    this.local.close()
    if (this.isLost) return
    const retired = SHARERS.map((kind) => this.redis.retire(kind, this.instance))
    await inTime(Promise.all(retired), this.answerMs).catch(() => {})
  }

  private async count(kind: Sharers): Promise<readonly [Sharers, number]> {
    const name = this.sharesIn.has(kind) ? this.instance : null
    return [kind, await this.redis.beat(kind, name)]
  }

  private async enterThere(
    sharers: Sharers,
    owner: string,
    claims: readonly Claim[],
  ): Promise<Permit | Full> {
    const id = this.nextId()
    const entering = this.redis.enter(id, owner, claims)
    try {
      const outcome = await inTime(entering, this.answerMs)
      return isFull(outcome) ? outcome : this.hold(outcome, null)
    } catch (err) {
      // The call is decided here; a permit that was given all the same is not its own.
      const giveBack = (late: RemotePermit | Full) =>
        isFull(late) ? undefined : this.redis.release(late, { isRefunded: false })
      entering.then(giveBack).catch(() => {})
      this.lose(err)
      return this.enterHere(sharers, owner, claims)
    }
  }

  private enterHere(sharers: Sharers, owner: string, claims: readonly Claim[]): Permit | Full {
    const shares = claims.map((claim) => shareOf(claim, this.instances[sharers]))
    const local = this.local.enter(owner, shares)
    if (isFull(local)) return local
    return this.hold({ id: this.nextId(), owner, claims, takenAt: 0 }, local)
  }

  private hold(remote: RemotePermit, local: Permit | null): Permit {
    const held: Held = { remote, local, since: performance.now() }
    // Only these are renewed and carried over; other entries may never be left.
    const hasSeats = remote.claims.some(isPermits)
    if (hasSeats) {
      this.held.add(held)
      if (this.isLost) this.carryOver(held)
    }
    let hasLeft = false
    return {
      release: (end) => {
        if (hasLeft) return
        hasLeft = true
        this.held.delete(held)
        held.local?.release(end)
        if (this.isLost) this.tellLater({ remote, end, at: performance.now() })
        else this.redis.release(remote, end).catch(() => {})
      },
    }
  }

  /** Whoever took a permit there still has it here. */
  private carryOver(held: Held): void {
    const permits = held.remote.claims.filter(isPermits)
    const anyway = permits.map((claim) => ({ ...claim, max: Number.POSITIVE_INFINITY }))
    const local = held.local ?? this.local.enter(held.remote.owner, anyway)
    held.local = isFull(local) ? null : local
  }

  private *seatsToRenew(): Generator<RemotePermit> {
    const before = performance.now() - BEAT_MS
    for (const { remote, since } of this.held) if (this.isLost || since <= before) yield remote
  }

  private lose(err: unknown): void {
    if (this.isLost) return
    this.isLost = true
    for (const held of this.held) this.carryOver(held)
    const { instances } = this
    const facts = { reason: reasonOf(err), ...instances }
    this.log.warn(facts, 'Redis is lost: limits are kept here, each a share of it')
    this.beatLater()
  }

  /** Redis keeps a permit of its own accord for so long: what is older is gone there by then. */
  private tellLater(left: Left): void {
    const fresh = left.at - SEAT_LEASE_MS
    while ((this.left[0]?.at ?? left.at) < fresh) this.left.shift()
    this.left.push(left)
  }

  private found(): void {
    if (!this.isLost) return
    this.isLost = false
    const left = this.left
    this.left = []
    for (const { remote, end } of left) this.redis.release(remote, end).catch(() => {})
    this.log.info('Redis is back: limits are shared again')
  }

  private beatLater(): void {
    clearTimeout(this.timer)
    if (this.isClosed) return
    this.timer = setTimeout(() => void this.beat(), this.isLost ? LOST_BEAT_MS : BEAT_MS)
    this.timer.unref()
  }

  private nextId(): string {
    this.entries += 1
    return `${this.instance}:${this.entries}`
  }
}

const isPermits = (claim: Claim): claim is PermitsClaim => claim.kind === 'seats'

/** What one of `instances` processes allows, so that together they keep to the claim. */
export function shareOf(claim: Claim, instances: number): Claim {
  const share = (whole: number): number => Math.ceil(whole / instances)
  return claim.kind === 'backoff'
    ? { ...claim, freeTries: share(claim.freeTries) }
    : { ...claim, max: share(claim.max) }
}

/** Rejects when there is no answer in time, unless it lay there while this process was busy. */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new Error(`no answer within ${ms} ms`))
    const timer = setTimeout(() => setImmediate(tooLate), ms)
    answer.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
