import type { TokenRateLimit } from '#domain/token/events.ts'
import type { Claim, Full } from '#infra/limits/port.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import type { ConcurrencyCaps } from './concurrency.ts'

/** Whose calls are counted, and against which limits; 0 is no limit on that count. */
export type RateRule = {
  readonly scope: 'token' | 'user'
  readonly id: number
  readonly count: number
  readonly success: number
  readonly periodMs: number
}

/** Tokens of a user in any minute. */
export type TokenRule = {
  readonly userId: number
  readonly max: number
  /** What this call may use, before anybody knows. */
  readonly estimate: number
}

/** What a call has to fit into, and what its caller is told when it doesn't. */
export type CallClaims = {
  readonly claims: readonly Claim[]
  readonly denialOf: (full: Full) => Denial
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

/**
 * Places among the calls at once, then under every rule among calls and successful calls. A call
 * takes its place among the successes when it begins and gives it back when it fails: else any
 * number could begin at once while none has succeeded yet.
 */
export function callClaims(
  userId: number,
  tokenId: number,
  caps: Pick<ConcurrencyCaps, 'perUser' | 'perToken'>,
  rules: readonly RateRule[],
  tokens: TokenRule | null,
): CallClaims {
  const claims: Claim[] = [
    { kind: 'seats', key: `user:${userId}`, max: caps.perUser },
    { kind: 'seats', key: `token:${tokenId}`, max: caps.perToken },
  ]
  const ruleOf: (RateRule | undefined)[] = [undefined, undefined]
  const claim = (rule: RateRule, what: 'calls' | 'successes', max: number): void => {
    if (max <= 0) return
    const { scope, id, periodMs } = rule
    const isRefundable = what === 'successes'
    claims.push({ kind: 'rate', key: `${scope}:${id}:${what}`, max, periodMs, isRefundable })
    ruleOf.push(rule)
  }
  for (const rule of rules) {
    claim(rule, 'calls', rule.count)
    claim(rule, 'successes', rule.success)
  }
  if (tokens !== null) {
    const { max, estimate } = tokens
    claims.push({ kind: 'tokens', key: `user:${tokens.userId}`, max, estimate })
  }
  return {
    claims,
    denialOf: ({ full, waitMs }) => {
      const rule = ruleOf[full]
      if (tokens !== null && claims[full]?.kind === 'tokens') return tokenDenial(tokens, waitMs)
      return rule === undefined ? tooManyAtOnce() : rateDenial(rule, waitMs)
    },
  }
}

/** When a seat gets free nobody knows; whoever was refused at once does not come back at once. */
const tooManyAtOnce = (): Denial =>
  deny('too_many_concurrent', { retryAfterSeconds: 1 + Math.floor(Math.random() * 3) })

const tokenDenial = ({ max }: TokenRule, waitMs: number): Denial =>
  deny('rate_limited', {
    subject: `${max} tokens / 60 s`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })

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
