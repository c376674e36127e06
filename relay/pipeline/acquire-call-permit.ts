import { isFull } from '#infra/limits/port.ts'
import {
  type CallRules,
  callClaims,
  permitsOfToken,
  type RateRule,
  rateOfToken,
  type TokensRule,
} from '#relay/limits/call-limit-claims.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { Caller } from './authenticate.ts'
import type { RelayDeps } from './relay-deps.ts'

export type CallOutcome = { readonly isSuccess: boolean; readonly tokens: number }

export type Sized = Pick<ChatRequest, 'outputTokensMax' | 'choices'> & {
  readonly body: { readonly length: number }
}

/** A permit for one running call. It must be released exactly once, when the call ends. */
export type CallPermit = { readonly release: (outcome: CallOutcome) => void }

const BYTES_PER_TOKEN = 4

/**
 * Acquires a permit for a call. The limit of this process is checked first. After that, the limits
 * that all relay processes share are checked: those of the user and the token.
 */
export async function acquirePermit(
  deps: RelayDeps,
  { token, user, group }: Caller,
  request: Sized,
): Promise<CallPermit | RelayError> {
  const { underWay, limits, caps, views } = deps
  if (!underWay.enter()) {
    return relayError('overloaded', { retryAfter: 1 + Math.floor(Math.random() * 3) })
  }
  const { userId } = user
  const { tokenId, terms } = token
  const { claims, errorFor } = callClaims(
    { userId, permits: caps.perUser },
    { tokenId, permits: permitsOfToken(terms, caps) },
    rulesFor(userId, group, token, views.options.options.userRate, request),
  )
  const permit = await limits.enter(`user:${userId}`, claims)
  if (isFull(permit)) {
    underWay.release()
    return errorFor(permit)
  }
  return {
    release: ({ isSuccess, tokens }) => {
      underWay.release()
      permit.release({ isRefunded: !isSuccess, tokens })
    },
  }
}

type UserRate = RelayOptions['userRate']

/**
 * Lists the rate limits of the token and the site. The operator may exempt one user group from the
 * site's limits.
 */
function rulesFor(
  userId: number,
  group: string,
  { tokenId, terms }: RelayToken,
  userRate: UserRate,
  request: Sized,
): CallRules {
  const rates: RateRule[] = []
  const tokens: TokensRule[] = []
  const ofToken = rateOfToken(tokenId, terms)
  if (ofToken !== null) rates.push(ofToken)
  if (terms.tokensPerMinute > 0) {
    const max = terms.tokensPerMinute
    tokens.push({ scope: 'token', id: tokenId, max, estimate: estimateOf(request) })
  }
  if (!userRate.isEnabled || userRate.exemptGroup === group) return { rates, tokens }
  const { count, success, periodMs, tokensPerMinute: max } = userRate
  rates.push({ scope: 'user', id: userId, count, success, periodMs })
  if (max > 0) tokens.push({ scope: 'user', id: userId, max, estimate: estimateOf(request) })
  return { rates, tokens }
}

/** Estimates the tokens of a call: the input from the request's length, plus all allowed output. */
const estimateOf = ({ body, outputTokensMax, choices }: Sized): number =>
  Math.ceil(body.length / BYTES_PER_TOKEN) + (outputTokensMax ?? 0) * choices
