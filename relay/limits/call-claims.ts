import type { SharedTerms } from '#domain/token/events.ts'
import type { Claim, Full } from '#infra/limits/port.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ConcurrencyCaps } from './concurrency.ts'

type Whose = { readonly scope: 'token' | 'user'; readonly id: number }

/** Whose calls are counted, and against which limits; 0 is no limit on that count. */
export type RateRule = Whose & {
  readonly count: number
  readonly success: number
  readonly periodMs: number
}

/** Tokens that somebody's calls may use in any minute. */
export type TokensRule = Whose & {
  readonly max: number
  /** What this call may use, before anybody knows. */
  readonly estimate: number
}

export type CallRules = {
  readonly rates: readonly RateRule[]
  readonly tokens: readonly TokensRule[]
}

/** What a call has to fit into, and what its caller is told when it doesn't. */
export type CallClaims = {
  readonly claims: readonly Claim[]
  readonly denialOf: (full: Full) => RelayError
}

export const rateOfToken = (tokenId: number, { rateLimit }: SharedTerms): RateRule | null =>
  rateLimit.isEnabled
    ? {
        scope: 'token',
        id: tokenId,
        count: rateLimit.count,
        success: rateLimit.success,
        periodMs: rateLimit.periodSeconds * 1_000,
      }
    : null

/** How many calls at once are a token's: its own limit, if it has one within the relay's. */
export const seatsOfToken = (
  { maxConcurrency }: SharedTerms,
  { perToken }: Pick<ConcurrencyCaps, 'perToken'>,
): number => (maxConcurrency > 0 ? Math.min(maxConcurrency, perToken) : perToken)

/**
 * Places among the calls at once, then under every rule among calls and successful calls, then
 * among the tokens of a minute. A call takes its place among the successes when it begins and gives
 * it back when it fails: else any number could begin at once while none has succeeded yet.
 */
export function callClaims(
  user: { readonly userId: number; readonly permits: number },
  token: { readonly tokenId: number; readonly permits: number },
  { rates, tokens }: CallRules,
): CallClaims {
  const claims: Claim[] = [
    { kind: 'seats', key: `user:${user.userId}`, max: user.permits },
    { kind: 'seats', key: `token:${token.tokenId}`, max: token.permits },
  ]
  for (const rule of rates) {
    if (rule.count > 0) claims.push(rateClaim(rule, 'calls', rule.count))
    if (rule.success > 0) claims.push(rateClaim(rule, 'successes', rule.success))
  }
  for (const { scope, id, max, estimate } of tokens) {
    claims.push({ kind: 'tokens', key: `${scope}:${id}`, max, estimate })
  }
  return { claims, denialOf: (full) => denialOf(claims[full.full], full.waitMs) }
}

const rateClaim = (
  { scope, id, periodMs }: RateRule,
  what: 'calls' | 'successes',
  max: number,
): Claim => {
  const isRefundable = what === 'successes'
  return { kind: 'rate', key: `${scope}:${id}:${what}`, max, periodMs, isRefundable }
}

/** Names the limit that was full. */
function denialOf(claim: Claim | undefined, waitMs: number): RelayError {
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
  // When a permit gets free nobody knows; whoever was refused at once does not come back at once.
  const subject = claim?.kind === 'seats' ? `${claim.max} (${whose})` : ''
  const afterSeconds = 1 + Math.floor(Math.random() * 3)
  return relayError('too_many_concurrent', { subject, retryAfter: afterSeconds })
}
