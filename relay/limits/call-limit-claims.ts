import type { SharedTerms } from '#domain/tokens/events.ts'
import type { Claim, Full } from '#infra/limits/port.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ConcurrencyCaps } from './process-call-limit.ts'

type Subject = {
  readonly scope: 'token' | 'user'
  readonly id: number
  /** The model whose calls count; all calls if it is undefined. */
  readonly model?: string
}

/** Limits the number of calls of one token or user per period. A maximum of 0 sets no limit. */
export type RateRule = Subject & {
  readonly count: number
  readonly success: number
  readonly periodMs: number
  /** The number of calls that are counted now, such as the lines of a batch. */
  readonly calls: number
}

/** Limits the tokens that the calls of one token or user may use in any minute. */
export type TokensRule = Subject & {
  readonly max: number
  /** The expected number of AI tokens of the calls. */
  readonly estimate: number
}

/** Limits the calls of one token or user that run at the same time. */
export type PermitsRule = Subject & { readonly permits: number }

export type CallRules = {
  readonly permits: readonly PermitsRule[]
  readonly rates: readonly RateRule[]
  readonly tokens: readonly TokensRule[]
}

export const NO_RULES: CallRules = { permits: [], rates: [], tokens: [] }

/**
 * The limits that a call must pass, and a function that returns the error for an exceeded limit.
 */
export type CallClaims = {
  readonly claims: readonly Claim[]
  readonly errorFor: (full: Full) => RelayError
}

export const rateOfToken = (tokenId: number, { rateLimit }: SharedTerms): RateRule | null =>
  rateLimit.isEnabled
    ? {
        scope: 'token',
        id: tokenId,
        count: rateLimit.count,
        success: rateLimit.success,
        periodMs: rateLimit.periodSeconds * 1_000,
        calls: 1,
      }
    : null

/**
 * Returns how many calls of a token may run at the same time. This is the token's own limit or the
 * relay's limit for each token, whichever is lower.
 */
export const permitsOfToken = (
  { maxConcurrency }: SharedTerms,
  { perToken }: Pick<ConcurrencyCaps, 'perToken'>,
): number => (maxConcurrency > 0 ? Math.min(maxConcurrency, perToken) : perToken)

/**
 * Lists the limits of a call in the order of the checks: concurrent calls, calls per period,
 * successful calls per period, tokens per minute. A running call counts as successful until it
 * fails. Otherwise, any number of calls could start before the first success.
 */
export function claimsOf(all: readonly CallRules[]): CallClaims {
  const claims: Claim[] = []
  for (const { permits } of all) {
    for (const rule of permits) {
      claims.push({ kind: 'permits', key: keyOf(rule), max: rule.permits })
    }
  }
  for (const { rates } of all) {
    for (const rule of rates) {
      if (rule.count > 0) claims.push(rateClaim(rule, 'calls', rule.count))
      if (rule.success > 0) claims.push(rateClaim(rule, 'successes', rule.success))
    }
  }
  for (const { tokens } of all) {
    for (const rule of tokens) {
      const { max, estimate } = rule
      claims.push({ kind: 'tokens', key: keyOf(rule), max, estimate })
    }
  }
  return { claims, errorFor: (full) => errorFor(claims[full.full], full.waitMs) }
}

const keyOf = ({ scope, id, model }: Subject): string =>
  model === undefined ? `${scope}:${id}` : `${scope}:${id}:model:${model}`

const rateClaim = (rule: RateRule, what: 'calls' | 'successes', max: number): Claim => {
  const isRefundable = what === 'successes'
  const { periodMs, calls } = rule
  const claim = {
    kind: 'rate',
    key: `${keyOf(rule)}:${what}`,
    max,
    periodMs,
    isRefundable,
  } as const
  return calls === 1 ? claim : { ...claim, count: calls }
}

function errorFor(claim: Claim | undefined, waitMs: number): RelayError {
  const isOfKey = /^token:\d/.test(claim?.key ?? '')
  const whose = isOfKey ? 'this key' : 'this user'
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1_000))
  if (claim?.kind === 'rate') {
    const calls = claim.isRefundable ? 'successful calls' : 'calls'
    const subject = `${claim.max} ${calls} / ${claim.periodMs / 1_000} s (${whose})`
    return relayError('rate_limited', { subject, retryAfter })
  }
  if (claim?.kind === 'tokens') {
    const subject = `${claim.max} tokens / 60 s (${whose})`
    return relayError('rate_limited', { subject, retryAfter })
  }
  // Nobody knows when a permit becomes free. The retry delay is random, so that rejected callers do
  // not all retry at the same time.
  const subject = claim?.kind === 'permits' ? `${claim.max} (${whose})` : ''
  const afterSeconds = 1 + Math.floor(Math.random() * 3)
  return relayError('too_many_concurrent', { subject, retryAfter: afterSeconds })
}
