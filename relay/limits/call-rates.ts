import type { TokenRateLimit } from '#domain/token/events.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import { type RateWindow, RateWindows } from './rate-window.ts'

/** Whose calls are counted, and against which limits; 0 is no limit on that count. */
export type RateRule = {
  readonly scope: 'token' | 'user'
  readonly id: number
  readonly count: number
  readonly success: number
  readonly periodMs: number
}

export const ruleOfToken = (tokenId: number, limit: TokenRateLimit): RateRule | null =>
  limit.isEnabled
    ? {
        scope: 'token',
        id: tokenId,
        count: limit.count,
        success: limit.success,
        periodMs: limit.periodSeconds * 1_000,
      }
    : null

/** What a call took; given back at its end when it did not succeed. */
export type RateTicket = { readonly end: (isSuccess: boolean) => void }

/**
 * Counts calls and successful calls. A call takes its place among the successes when it begins and
 * gives it back when it fails: else any number could begin at once while none has succeeded yet.
 */
export class CallRates {
  private readonly calls = new RateWindows()
  private readonly successes = new RateWindows()
  private periodMsMax = 60_000

  /** Takes a place under every rule, or under none and tells which limit was hit. */
  enter(rules: readonly RateRule[], now: number): RateTicket | Denial {
    for (const rule of rules) {
      const waitMs = this.waitMs(rule, now)
      if (waitMs > 0) return rateDenial(rule, waitMs)
    }
    const taken: RateWindow[] = []
    for (const rule of rules) {
      this.periodMsMax = Math.max(this.periodMsMax, rule.periodMs)
      const key = keyOf(rule)
      if (rule.count > 0) this.calls.of(key).take(now)
      if (rule.success > 0) {
        const window = this.successes.of(key)
        window.take(now)
        taken.push(window)
      }
    }
    return {
      end: (isSuccess) => {
        if (!isSuccess) for (const window of taken) window.giveBack()
      },
    }
  }

  sweep(now: number): void {
    this.calls.sweep(now, this.periodMsMax)
    this.successes.sweep(now, this.periodMsMax)
  }

  private waitMs(rule: RateRule, now: number): number {
    const key = keyOf(rule)
    const { periodMs, count, success } = rule
    const byCount = count > 0 ? this.calls.of(key).waitMs({ count, periodMs }, now) : 0
    if (success <= 0) return byCount
    return Math.max(byCount, this.successes.of(key).waitMs({ count: success, periodMs }, now))
  }
}

const keyOf = (rule: RateRule): string => `${rule.scope}:${rule.id}`

function rateDenial(rule: RateRule, waitMs: number): Denial {
  const counts = [
    rule.count > 0 ? `${rule.count}` : null,
    rule.success > 0 ? `${rule.success} successful` : null,
  ].filter((part) => part !== null)
  return deny('rate_limited', {
    subject: `${counts.join(', ')} / ${rule.periodMs / 1_000} s`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}
