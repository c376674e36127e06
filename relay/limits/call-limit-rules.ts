import type { RelayOptions } from '#relay/views/option-view.ts'
import type { RelayToken } from '../views/token-view.ts'
import {
  type CallRules,
  NO_RULES,
  permitsOfToken,
  rateOfToken,
  withSharedClaims,
} from './call-limit-claims.ts'
import type { ConcurrencyCaps } from './limits-on-running-calls.ts'

/** The user and the token whose limits apply, and the limits of the site. */
export type LimitedCaller = {
  readonly userId: number
  readonly token: RelayToken
  readonly userRate: RelayOptions['userRate']
  readonly caps: ConcurrencyCaps
}

/** Calls of one model, and the AI tokens that they may use. */
export type ModelCalls = {
  readonly model: string
  readonly calls: number
  readonly tokens: number
}

type CachedRules = Pick<LimitedCaller, 'userId' | 'caps'> & {
  readonly terms: RelayToken['terms']
  readonly rules: CallRules
}

/**
 * The maximum number of entries in `CACHED_RULES`. A larger cache would only keep the rules of
 * tokens that are rarely used.
 */
const CACHED_TOKENS_MAX = 4_096
/**
 * Caches the rules of tokens without a limit on AI tokens, by the token's id. These rules are the
 * same for all calls of a token. Each change of a token creates a new object with the token's
 * terms, so an entry with an earlier object is outdated.
 */
const CACHED_RULES = new Map<number, CachedRules>()

/** Lists the limits of a call that depend neither on its group nor on its model. */
export function callRules(limited: LimitedCaller, estimate: number): CallRules {
  const { userId, token, caps } = limited
  if (token.terms.tokensPerMinute > 0) return newCallRules(limited, estimate)
  const { tokenId, terms } = token
  const cached = CACHED_RULES.get(tokenId)
  const isSame = cached?.userId === userId && cached.caps === caps && cached.terms === terms
  if (isSame) return cached.rules
  const rules = withSharedClaims(newCallRules(limited, 0))
  const [oldest] = CACHED_RULES.size < CACHED_TOKENS_MAX ? [] : CACHED_RULES.keys()
  if (oldest !== undefined) CACHED_RULES.delete(oldest)
  CACHED_RULES.set(tokenId, { userId, caps, terms, rules })
  return rules
}

function newCallRules({ userId, token, caps }: LimitedCaller, estimate: number): CallRules {
  const { tokenId, terms } = token
  const ofToken = rateOfToken(tokenId, terms)
  const { tokensPerMinute: max } = terms
  return {
    permits: [
      { scope: 'user', id: userId, permits: caps.perUser },
      { scope: 'token', id: tokenId, permits: permitsOfToken(terms, caps) },
    ],
    rates: ofToken === null ? [] : [ofToken],
    tokens: max > 0 ? [{ scope: 'token', id: tokenId, max, estimate }] : [],
  }
}

/**
 * Returns the group itself if it has limits or is exempt from all limits. Otherwise returns null,
 * because all other groups share the limits of the site.
 */
export const limitedGroupOf = (
  { byGroup, exemptGroup }: LimitedCaller['userRate'],
  group: string,
): string | null => (byGroup.has(group) || exemptGroup === group ? group : null)

/**
 * Lists the limits on a user's calls in a group. These are the group's limits, or the limits of the
 * site if the group has none. The operator may exempt one group from all these limits.
 */
export function groupRules(
  { userId, userRate }: LimitedCaller,
  group: string,
  estimate: number,
): CallRules {
  const { byGroup, exemptGroup, periodMs } = userRate
  if (exemptGroup === group) return NO_RULES
  const own = byGroup.get(group)
  const limits = own ?? limitsOfSite(userRate)
  if (limits === undefined) return NO_RULES
  const { calls: count = 0, successes: success = 0, tokensPerMinute: max = 0 } = limits
  const subject = { scope: 'user', id: userId, ...(own === undefined ? {} : { group }) } as const
  const { concurrency = 0 } = own ?? {}
  return {
    permits: concurrency > 0 ? [{ ...subject, permits: concurrency }] : [],
    rates: [{ ...subject, count, success, periodMs, calls: 1 }],
    tokens: max > 0 ? [{ ...subject, max, estimate }] : [],
  }
}

function limitsOfSite({ isEnabled, count, success, tokensPerMinute }: LimitedCaller['userRate']) {
  return isEnabled ? { calls: count, successes: success, tokensPerMinute } : undefined
}

/**
 * Lists the limits on a user's calls of one model. Calls in the exempt group have no such limits.
 */
export function modelRules(
  { userId, userRate }: LimitedCaller,
  group: string,
  { model, calls, tokens }: ModelCalls,
): CallRules {
  const { byModel, exemptGroup, periodMs } = userRate
  const limits = exemptGroup === group ? undefined : byModel.get(model)
  if (limits === undefined) return NO_RULES
  const { calls: count = 0, successes: success = 0, tokensPerMinute = 0, concurrency = 0 } = limits
  const subject = { scope: 'user', id: userId, model } as const
  return {
    permits: concurrency > 0 ? [{ ...subject, permits: concurrency }] : [],
    rates: [{ ...subject, count, success, periodMs, calls }],
    tokens: tokensPerMinute > 0 ? [{ ...subject, max: tokensPerMinute, estimate: tokens }] : [],
  }
}
