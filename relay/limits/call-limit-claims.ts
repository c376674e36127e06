import type { SharedTerms } from '#domain/tokens/events.ts'
import type { Claim, Full } from '#infra/limits/port.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ConcurrencyCaps } from './limits-on-running-calls.ts'

type Subject = {
  readonly scope: 'token' | 'user'
  readonly id: number
  /** The model whose calls are counted. If it is undefined, the calls of all models are counted. */
  readonly model?: string
  /** The group whose calls are counted. If it is undefined, the calls of all groups are counted. */
  readonly group?: string
}

/** Limits the number of calls of one token or user per period. A maximum of 0 sets no limit. */
type RateRule = Subject & {
  readonly count: number
  readonly success: number
  readonly periodMs: number
  /** The number of calls that are counted now, such as the lines of a batch. */
  readonly calls: number
}

/** Limits the tokens that the calls of one token or user may use in any minute. */
type TokensRule = Subject & {
  readonly max: number
  /** The expected number of AI tokens of the calls. */
  readonly estimate: number
}

/** Limits the calls of one token or user that run at the same time. */
type PermitsRule = Subject & { readonly permits: number }

/**
 * The limits that apply to a call. They limit concurrent calls, calls per period, and tokens per
 * minute.
 */
export type CallRules = {
  readonly permits: readonly PermitsRule[]
  readonly rates: readonly RateRule[]
  readonly tokens: readonly TokensRule[]
}

const NAME_LENGTH_MAX = 128

export const NO_RULES: CallRules = { permits: [], rates: [], tokens: [] }

/** The error for a limit that is reached, and the rules that contain this limit. */
export type Refusal = { readonly error: RelayError; readonly rules: CallRules }

/**
 * The limits that a call must pass. `refusalFor` returns the error for the limit that is reached.
 */
type CallClaims = {
  readonly claims: readonly Claim[]
  readonly refusalFor: (full: Full) => Refusal
}

/** Returns the token's limit on calls per period; null if it has none. */
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

/** The claims of rules that many calls share. */
const SHARED_CLAIMS = new WeakMap<CallRules, CallClaims>()

/**
 * Computes the claims of these rules in advance, because many calls share the rules. `claimsOf`
 * then does not compute the claims for each call. Most calls have no other limits.
 */
export function withSharedClaims(rules: CallRules): CallRules {
  SHARED_CLAIMS.set(rules, claimsOf([rules]))
  return rules
}

const isUnlimited = (rules: CallRules): boolean => rules === NO_RULES

/**
 * Lists the limits of a call in the order of the checks: concurrent calls, calls and successful
 * calls per period, tokens per minute. A running call counts as successful until it fails, because
 * any number of calls could otherwise start before the first success.
 */
export function claimsOf(all: readonly CallRules[]): CallClaims {
  const [first = NO_RULES, ...others] = all
  const shared = SHARED_CLAIMS.get(first)
  if (shared !== undefined && others.every(isUnlimited)) return shared
  const claims: Claim[] = []
  const sources: { readonly rules: CallRules; readonly subject: Subject }[] = []
  const add = (rules: CallRules, subject: Subject, claim: Claim): void => {
    claims.push(claim)
    sources.push({ rules, subject })
  }
  for (const rules of all) {
    for (const rule of rules.permits) {
      add(rules, rule, { kind: 'permits', key: keyOf(rule), max: rule.permits })
    }
  }
  for (const rules of all) {
    for (const rule of rules.rates) {
      if (rule.count > 0) add(rules, rule, rateClaim(rule, 'calls', rule.count))
      if (rule.success > 0) add(rules, rule, rateClaim(rule, 'successes', rule.success))
    }
  }
  for (const rules of all) {
    for (const rule of rules.tokens) {
      const { max, estimate } = rule
      add(rules, rule, { kind: 'tokens', key: keyOf(rule), max, estimate })
    }
  }
  const refusalFor = ({ full, waitMs }: Full): Refusal => {
    const source = sources[full]
    const whose = source === undefined ? '' : nameOf(source.subject)
    return { error: errorFor(claims[full], whose, waitMs), rules: source?.rules ?? NO_RULES }
  }
  return { claims, refusalFor }
}

function keyOf({ scope, id, model, group }: Subject): string {
  const ofModel = model === undefined ? '' : `:model:${model}`
  const ofGroup = group === undefined ? '' : `:group:${group}`
  return `${scope}:${id}${ofGroup}${ofModel}`
}

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

/**
 * Returns the text with which an error message says whose calls a limit counts. Names of models may
 * come from the caller, so long names are cut.
 */
function nameOf({ scope, model, group }: Subject): string {
  const whose = scope === 'token' ? 'this key' : 'this user'
  if (model !== undefined) return `${whose}, model ${model.slice(0, NAME_LENGTH_MAX)}`
  return group === undefined ? whose : `${whose}, group ${group.slice(0, NAME_LENGTH_MAX)}`
}

function errorFor(claim: Claim | undefined, whose: string, waitMs: number): RelayError {
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
  // It is unknown when a permit becomes free. The retry delay is random, so that rejected callers
  // do not all retry at the same time.
  const subject = claim?.kind === 'permits' ? `${claim.max} (${whose})` : ''
  const afterSeconds = 1 + Math.floor(Math.random() * 3)
  return relayError('too_many_concurrent', { subject, retryAfter: afterSeconds })
}
