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
  /**
   * The limits of calls to the relay. While Redis is unavailable, only the relay processes divide
   * these limits among each other.
   */
  readonly calls: Limits
  /** Returns the last known number of processes in the group `sharers`. */
  readonly instances: (sharers?: Sharers) => number
  readonly close: () => Promise<void>
}

export type SharedLimitsDeps = {
  readonly redis: RedisLimits
  readonly log: Logger
  readonly now: () => number
  /**
   * The maximum wait for Redis in milliseconds. After this time, this process decides the request
   * alone.
   */
  readonly answerMs?: number
}

export const PERMIT_LEASE_MS = 10_000
const HEARTBEAT_MS = 2_500
const HEARTBEAT_WHILE_LOST_MS = 500
const ANSWER_MS = 100
const SHARERS: readonly Sharers[] = ['calls', 'site']

/**
 * A permit that is not released yet. While Redis is unavailable, `local` is the permit for the same
 * request in the limiter of this process.
 */
type HeldPermit = { readonly remote: RemotePermit; local: Permit | null; readonly since: number }
/** A permit that was released while Redis was unreachable. */
type ReleasedPermit = {
  readonly remote: RemotePermit
  readonly end: PermitEnd
  readonly at: number
}

/**
 * Creates limits that all processes share through Redis. While Redis does not answer, this process
 * decides alone and allows its fraction of each limit. Permits that were acquired before Redis
 * failed still count.
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
  private readonly held = new Set<HeldPermit>()
  private released: ReleasedPermit[] = []
  /**
   * The groups of processes to which this process belongs. The process joins a group when it
   * decides a request under the limits of the group.
   */
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
      ? this.enterLocally(sharers, owner, claims)
      : this.enterRedis(sharers, owner, claims)
  }

  /**
   * Registers this process in Redis and renews its permits. This also tests whether Redis accepts
   * writes.
   */
  async beat(): Promise<void> {
    try {
      const counted = await inTime(
        Promise.all(SHARERS.map((kind) => this.count(kind))),
        this.answerMs,
      )
      await this.redis.renew(this.permitsToRenew())
      for (const [kind, instances] of counted) this.instances[kind] = Math.max(1, instances)
      this.onRecovered()
    } catch (err) {
      this.onLost(err)
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

  private async enterRedis(
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
      // Redis did not answer in time, so this process decides the request. If Redis grants a permit
      // later, the permit is released.
      const releaseLate = (late: RemotePermit | Full) =>
        isFull(late) ? undefined : this.redis.release(late, { isRefunded: false })
      entering.then(releaseLate).catch(() => {})
      this.onLost(err)
      return this.enterLocally(sharers, owner, claims)
    }
  }

  private enterLocally(sharers: Sharers, owner: string, claims: readonly Claim[]): Permit | Full {
    const shares = claims.map((claim) => shareOf(claim, this.instances[sharers]))
    const local = this.local.enter(owner, shares)
    if (isFull(local)) return local
    return this.hold({ id: this.nextId(), owner, claims, takenAt: 0 }, local)
  }

  private hold(remote: RemotePermit, local: Permit | null): Permit {
    const held: HeldPermit = { remote, local, since: performance.now() }
    // Only requests that claim a permit are tracked. Other requests may never be released, so they
    // would be tracked forever.
    const hasPermits = remote.claims.some(isPermits)
    if (hasPermits) {
      this.held.add(held)
      if (this.isLost) this.enterOwn(held)
    }
    let isReleased = false
    return {
      release: (end) => {
        if (isReleased) return
        isReleased = true
        this.held.delete(held)
        held.local?.release(end)
        if (this.isLost) this.releaseLater({ remote, end, at: performance.now() })
        else this.redis.release(remote, end).catch(() => {})
      },
    }
  }

  /** Counts a permit in the limiter of this process too, because Redis is unavailable. */
  private enterOwn(held: HeldPermit): void {
    const permits = held.remote.claims.filter(isPermits)
    const anyway = permits.map((claim) => ({ ...claim, max: Number.POSITIVE_INFINITY }))
    const local = held.local ?? this.local.enter(held.remote.owner, anyway)
    held.local = isFull(local) ? null : local
  }

  private *permitsToRenew(): Generator<RemotePermit> {
    const before = performance.now() - HEARTBEAT_MS
    for (const { remote, since } of this.held) if (this.isLost || since <= before) yield remote
  }

  private onLost(err: unknown): void {
    if (this.isLost) return
    this.isLost = true
    for (const held of this.held) this.enterOwn(held)
    const { instances } = this
    const facts = { reason: reasonOf(err), ...instances }
    this.log.warn(facts, 'Redis is unavailable: this process applies its share of the limits')
    this.beatLater()
  }

  /**
   * Queues a release until Redis is available again. Releases older than the lease time of a permit
   * are dropped, because Redis has removed these permits.
   */
  private releaseLater(released: ReleasedPermit): void {
    const fresh = released.at - PERMIT_LEASE_MS
    while ((this.released[0]?.at ?? released.at) < fresh) this.released.shift()
    this.released.push(released)
  }

  private onRecovered(): void {
    if (!this.isLost) return
    this.isLost = false
    const released = this.released
    this.released = []
    for (const { remote, end } of released) this.redis.release(remote, end).catch(() => {})
    this.log.info('Redis is available again: limits are shared')
  }

  private beatLater(): void {
    clearTimeout(this.timer)
    if (this.isClosed) return
    this.timer = setTimeout(
      () => void this.beat(),
      this.isLost ? HEARTBEAT_WHILE_LOST_MS : HEARTBEAT_MS,
    )
    this.timer.unref()
  }

  private nextId(): string {
    this.entries += 1
    return `${this.instance}:${this.entries}`
  }
}

const isPermits = (claim: Claim): claim is PermitsClaim => claim.kind === 'permits'

/**
 * Returns the claim with the fraction of its limit that each of `instances` processes allows. The
 * fraction is rounded up, so all processes together may slightly exceed the limit.
 */
export function shareOf(claim: Claim, instances: number): Claim {
  const share = (whole: number): number => Math.ceil(whole / instances)
  if (claim.kind === 'backoff') return { ...claim, freeTries: share(claim.freeTries) }
  const max = share(claim.max)
  if (claim.kind !== 'rate' || claim.count === undefined) return { ...claim, max }
  // A request that counts more than this fraction, but fits into the whole limit, fills the
  // fraction. Without this rule, it would never be allowed.
  const count = claim.count > claim.max ? claim.count : Math.min(claim.count, max)
  return { ...claim, max, count }
}

/**
 * Resolves with `answer`, or rejects after `ms` milliseconds. An answer that arrived in time counts
 * even if this process was too busy to read it.
 */
export function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new Error(`no answer within ${ms} ms`))
    const timer = setTimeout(() => setImmediate(tooLate), ms)
    answer.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
