import type { RelayOptions } from '#relay/views/option-view.ts'
import type { RelayToken } from '../views/token-view.ts'
import {
  type CallRules,
  NO_RULES,
  permitsOfToken,
  type RateRule,
  rateOfToken,
  type TokensRule,
} from './call-limit-claims.ts'
import type { ConcurrencyCaps } from './process-call-limit.ts'

/** Whose limits apply, and which limits the site has. */
export type LimitedCaller = {
  readonly userId: number
  readonly group: string
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

/** Lists the limits of the token and the user that do not depend on the call's model. */
export function callRules(caller: LimitedCaller, estimate: number): CallRules {
  const { userId, group, token, userRate, caps } = caller
  const { tokenId, terms } = token
  const user = { scope: 'user', id: userId } as const
  const ofToken = rateOfToken(tokenId, terms)
  const rates: RateRule[] = ofToken === null ? [] : [ofToken]
  const { calls: count = 0, successes: success = 0 } = limitsOfUser(caller) ?? {}
  if (count > 0 || success > 0) {
    rates.push({ ...user, count, success, periodMs: userRate.periodMs, calls: 1 })
  }
  const { concurrency = 0 } = userRate.byGroup.get(group) ?? {}
  const perUser = concurrency > 0 ? Math.min(concurrency, caps.perUser) : caps.perUser
  return {
    permits: [
      { ...user, permits: perUser },
      { scope: 'token', id: tokenId, permits: permitsOfToken(terms, caps) },
    ],
    rates,
    tokens: tokenRules(caller, estimate),
  }
}

/** Lists the limits on the tokens of a call that do not depend on its model. */
export function tokenRules(caller: LimitedCaller, estimate: number): readonly TokensRule[] {
  const { userId, token } = caller
  const rules: TokensRule[] = []
  const { tokensPerMinute: ofToken } = token.terms
  if (ofToken > 0) rules.push({ scope: 'token', id: token.tokenId, max: ofToken, estimate })
  const { tokensPerMinute: ofUser = 0 } = limitsOfUser(caller) ?? {}
  if (ofUser > 0) rules.push({ scope: 'user', id: userId, max: ofUser, estimate })
  return rules
}

/**
 * Returns the limits of each user: those of the group, or else those of the site. The operator may
 * exempt one group from all of them.
 */
function limitsOfUser({ group, userRate }: LimitedCaller) {
  const { byGroup, exemptGroup, isEnabled } = userRate
  if (exemptGroup === group) return undefined
  const { count: calls, success: successes, tokensPerMinute } = userRate
  return byGroup.get(group) ?? (isEnabled ? { calls, successes, tokensPerMinute } : undefined)
}

/** Lists the limits of the user's calls of a model. */
export function modelRules(
  { userId, group, userRate }: LimitedCaller,
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
