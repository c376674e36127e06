import {
  BACKOFF_FIRST_MS,
  type BackoffClaim,
  type Claim,
  type Full,
  type Limits,
  PERMITS_WAIT_MS,
  type Permit,
  type RateClaim,
  TOKENS_PERIOD_MS,
  type TokensClaim,
} from './port.ts'

type RateLimit = Pick<RateClaim, 'max' | 'periodMs' | 'count'>

/**
 * Counts requests of one caller in a sliding window. `times` are the times of the latest requests,
 * oldest first. The window is exact, because counters that restart every minute could allow twice
 * the limit.
 */
class RateWindow {
  private readonly times: number[] = []
  private periodMs = 0

  /**
   * Returns the milliseconds until `count` more requests are allowed, or 0 if they are allowed now.
   * Does not count these requests.
   */
  waitMs({ max, periodMs, count = 1 }: RateLimit, now: number): number {
    if (count > max) return periodMs
    const { times } = this
    const since = now - periodMs
    let past = 0
    while (past < times.length && (times[past] ?? 0) <= since) past += 1
    if (past > 0) times.splice(0, past)
    const limiting = times[times.length - max + count - 1]
    // A time in the future was recorded before the clock was set back. Such a time causes no wait.
    return limiting === undefined || limiting > now ? 0 : limiting - since
  }

  take({ periodMs, count = 1 }: RateLimit, now: number): void {
    this.periodMs = periodMs
    for (let request = 0; request < count; request += 1) this.times.push(now)
  }

  release({ count = 1 }: RateLimit, takenAt: number): void {
    const last = this.times.lastIndexOf(takenAt)
    let first = last
    while (first > last - count + 1 && this.times[first - 1] === takenAt) first -= 1
    if (last >= 0) this.times.splice(first, last - first + 1)
  }

  isIdle(now: number): boolean {
    return (this.times.at(-1) ?? 0) <= now - this.periodMs
  }
}

/**
 * Replaces the window of a caller without requests, so that a check creates no entry. No request
 * must be added to this window.
 */
const NO_REQUESTS = new RateWindow()

type Amount = { readonly at: number; tokens: number }

/**
 * Counts the tokens of one caller's calls in the last minute. `amounts` are the tokens per call,
 * oldest first, and `sum` is their sum.
 */
class TokenWindow {
  private readonly amounts: Amount[] = []
  private sum = 0

  /**
   * Returns the milliseconds until a call with the estimated tokens is allowed, or 0 if it is
   * allowed now. Does not count these tokens.
   */
  waitMs({ max, estimate }: TokensClaim, now: number): number {
    const since = now - TOKENS_PERIOD_MS
    let past = 0
    for (const { at, tokens } of this.amounts) {
      // A time in the future was recorded before the clock was set back. Such a time is dropped.
      if (at > since && at <= now) break
      this.sum -= tokens
      past += 1
    }
    if (past > 0) this.amounts.splice(0, past)
    let left = this.sum
    if (left === 0 || left + estimate <= max) return 0
    for (const { at, tokens } of this.amounts) {
      left -= tokens
      if (left === 0 || left + estimate <= max) return Math.max(1, at - since)
    }
    return 0
  }

  take({ estimate }: TokensClaim, now: number): void {
    this.amounts.push({ at: now, tokens: estimate })
    this.sum += estimate
  }

  /**
   * Replaces the estimate with the actual number of tokens, if the estimate is still in the window.
   */
  correct({ estimate }: TokensClaim, takenAt: number, tokens: number): void {
    const amount = this.amounts.findLast(
      (candidate) => candidate.at === takenAt && candidate.tokens === estimate,
    )
    if (amount === undefined) return
    amount.tokens = tokens
    this.sum += tokens - estimate
  }

  isIdle(now: number): boolean {
    return (this.amounts.at(-1)?.at ?? 0) <= now - TOKENS_PERIOD_MS
  }
}

const SWEEP_MS = 30_000
/**
 * The maximum number of keys for each kind of limit except permits, so that an attacker with many
 * addresses can't fill the memory. The counts of permits are removed when the permits are released.
 */
const KEYS_MAX = 100_000

export type MemoryLimits = Omit<Limits, 'enter'> & {
  readonly enter: (owner: string, claims: readonly Claim[]) => Permit | Full
  readonly close: () => void
}

/** Creates a limiter that counts in this process. `now` is in milliseconds of a monotonic clock. */
export function createMemoryLimits(now: () => number): MemoryLimits {
  const counts = new Counts()
  const sweeping = setInterval(() => counts.sweep(now()), SWEEP_MS)
  sweeping.unref()
  return {
    enter: (_owner, claims) => counts.enter(claims, now()),
    isDegraded: () => false,
    close: () => clearInterval(sweeping),
  }
}

class Counts {
  private readonly rates = new Map<string, RateWindow>()
  private readonly permits = new Map<string, number>()
  private readonly tokens = new Map<string, TokenWindow>()
  private readonly backoffs = new Map<string, Backoff>()

  enter(claims: readonly Claim[], now: number): Permit | Full {
    let full = -1
    let waitMs = 0
    for (const [index, claim] of claims.entries()) {
      const wait = this.waitMs(claim, now)
      if (wait <= 0) continue
      if (full < 0) full = index
      waitMs = Math.max(waitMs, wait)
    }
    if (full >= 0) return { full, waitMs }
    for (const claim of claims) this.take(claim, now)
    let isReleased = false
    return {
      release: ({ isRefunded, tokens }) => {
        if (isReleased) return
        isReleased = true
        for (const claim of claims) this.release(claim, now, isRefunded, tokens)
      },
    }
  }

  sweep(now: number): void {
    for (const windows of [this.rates, this.tokens, this.backoffs]) {
      for (const [key, window] of windows) if (window.isIdle(now)) windows.delete(key)
    }
  }

  private waitMs(claim: Claim, now: number): number {
    switch (claim.kind) {
      case 'rate':
        return (this.rates.get(claim.key) ?? NO_REQUESTS).waitMs(claim, now)
      case 'permits':
        return (this.permits.get(claim.key) ?? 0) < claim.max ? 0 : PERMITS_WAIT_MS
      case 'tokens':
        return this.tokens.get(claim.key)?.waitMs(claim, now) ?? 0
      case 'backoff':
        return this.backoffs.get(claim.key)?.waitMs(claim, now) ?? 0
    }
  }

  private take(claim: Claim, now: number): void {
    switch (claim.kind) {
      case 'rate':
        return getOrCreate(this.rates, claim.key, RateWindow).take(claim, now)
      case 'permits':
        this.permits.set(claim.key, (this.permits.get(claim.key) ?? 0) + 1)
        return
      case 'tokens':
        return getOrCreate(this.tokens, claim.key, TokenWindow).take(claim, now)
      case 'backoff':
        return getOrCreate(this.backoffs, claim.key, Backoff).take(claim, now)
    }
  }

  private release(
    claim: Claim,
    takenAt: number,
    isRefunded: boolean,
    tokens: number | undefined,
  ): void {
    if (claim.kind === 'permits') {
      const count = (this.permits.get(claim.key) ?? 1) - 1
      if (count > 0) this.permits.set(claim.key, count)
      else this.permits.delete(claim.key)
    } else if (claim.kind === 'tokens') {
      if (tokens !== undefined) this.tokens.get(claim.key)?.correct(claim, takenAt, tokens)
    } else if (isRefunded) {
      if (claim.kind === 'backoff') this.backoffs.delete(claim.key)
      else if (claim.isRefundable) this.rates.get(claim.key)?.release(claim, takenAt)
    }
  }
}

/**
 * Returns the entry of a key, or creates it. If the map is full, the oldest entry is removed first.
 */
function getOrCreate<T>(all: Map<string, T>, key: string, Kind: new () => T): T {
  const found = all.get(key)
  if (found !== undefined) return found
  if (all.size >= KEYS_MAX) {
    const [first] = all.keys()
    if (first !== undefined) all.delete(first)
  }
  const limit = new Kind()
  all.set(key, limit)
  return limit
}

class Backoff {
  private tries = 0
  private lastAt = 0
  private forgetMs = 0

  /**
   * Returns the milliseconds until another try is allowed, or 0 if it is allowed now. Does not
   * count a try.
   */
  waitMs({ freeTries, delayMsMax }: BackoffClaim, now: number): number {
    if (this.isIdle(now)) this.tries = 0
    if (this.tries < freeTries) return 0
    const delayMs = Math.min(delayMsMax, BACKOFF_FIRST_MS * 2 ** (this.tries - freeTries))
    return this.lastAt > now ? 0 : Math.max(0, this.lastAt + delayMs - now)
  }

  take({ forgetMs }: BackoffClaim, now: number): void {
    this.tries += 1
    this.lastAt = now
    this.forgetMs = forgetMs
  }

  isIdle(now: number): boolean {
    return this.lastAt <= now - this.forgetMs
  }
}
