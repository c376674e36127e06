import {
  BACKOFF_FIRST_MS,
  type BackoffClaim,
  type Claim,
  type Full,
  type Limits,
  type Permit,
  SEATS_WAIT_MS,
} from './port.ts'
import { RateWindow } from './rate-window.ts'
import { TokenWindow } from './token-window.ts'

const SWEEP_MS = 30_000
/** Keys of a kind; addresses are made up by whoever attacks. */
const KEYS_MAX = 100_000

export type MemoryLimits = Omit<Limits, 'enter'> & {
  readonly enter: (owner: string, claims: readonly Claim[]) => Permit | Full
  readonly close: () => void
}

/** Limits of this process alone. `now`: milliseconds of a monotonic clock. */
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
    let hasLeft = false
    return {
      release: ({ isRefunded, tokens }) => {
        if (hasLeft) return
        hasLeft = true
        for (const claim of claims) this.giveBack(claim, now, isRefunded, tokens)
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
        return this.rates.get(claim.key)?.waitMs(claim, now) ?? 0
      case 'seats':
        return (this.permits.get(claim.key) ?? 0) < claim.max ? 0 : SEATS_WAIT_MS
      case 'tokens':
        return this.tokens.get(claim.key)?.waitMs(claim, now) ?? 0
      case 'backoff':
        return this.backoffs.get(claim.key)?.waitMs(claim, now) ?? 0
    }
  }

  private take(claim: Claim, now: number): void {
    switch (claim.kind) {
      case 'rate':
        return known(this.rates, claim.key, RateWindow).take(claim, now)
      case 'seats':
        this.permits.set(claim.key, (this.permits.get(claim.key) ?? 0) + 1)
        return
      case 'tokens':
        return known(this.tokens, claim.key, TokenWindow).take(claim, now)
      case 'backoff':
        return known(this.backoffs, claim.key, Backoff).take(claim, now)
    }
  }

  private giveBack(
    claim: Claim,
    takenAt: number,
    isRefunded: boolean,
    tokens: number | undefined,
  ): void {
    if (claim.kind === 'seats') {
      const count = (this.permits.get(claim.key) ?? 1) - 1
      if (count > 0) this.permits.set(claim.key, count)
      else this.permits.delete(claim.key)
    } else if (claim.kind === 'tokens') {
      if (tokens !== undefined) this.tokens.get(claim.key)?.correct(claim, takenAt, tokens)
    } else if (isRefunded) {
      if (claim.kind === 'backoff') this.backoffs.delete(claim.key)
      else if (claim.isRefundable) this.rates.get(claim.key)?.giveBack(takenAt)
    }
  }
}

/** The one of this key; the one made first of all makes room for a new one. */
function known<T>(all: Map<string, T>, key: string, Kind: new () => T): T {
  const found = all.get(key)
  if (found !== undefined) return found
  if (all.size >= KEYS_MAX) {
    const [first] = all.keys()
    if (first !== undefined) all.delete(first)
  }
  const made = new Kind()
  all.set(key, made)
  return made
}

/** Tries that were made, and the wait they have earned. */
class Backoff {
  private tries = 0
  private lastAt = 0
  private forgetMs = 0

  /** 0 when one more try may be made, else milliseconds until then. Counts nothing. */
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
