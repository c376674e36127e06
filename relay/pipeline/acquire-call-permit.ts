import { isFull } from '#infra/limits/port.ts'
import {
  type CallRules,
  callClaims,
  permitsOfToken,
  type RateRule,
  rateOfToken,
  type TokensRule,
} from '#relay/limits/call-limit-claims.ts'
import type { NamedLimits, RelayOptions } from '#relay/views/option-view.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { Caller } from './authenticate.ts'
import type { RelayDeps } from './relay-deps.ts'

export type CallOutcome = { readonly isSuccess: boolean; readonly tokens: number }

export type Sized = Pick<ChatRequest, 'outputTokensMax' | 'choices'> & {
  readonly body: { readonly length: number }
  /** Undefined for a call of no model, which has no limits of a model. */
  readonly model?: string
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
    { userId, permits: permitsOfUser(views.options.options.userRate, group, caps.perUser) },
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

function permitsOfUser({ byGroup }: UserRate, group: string, perUser: number): number {
  const { concurrency = 0 } = byGroup.get(group) ?? {}
  return concurrency > 0 ? Math.min(concurrency, perUser) : perUser
}

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
  const { byGroup, byModel, exemptGroup, periodMs } = userRate
  if (exemptGroup === group) return { rates, tokens }
  const { model = '' } = request
  const user = { scope: 'user', id: userId } as const
  const estimate = estimateOf(request)
  const addLimits = (subject: typeof user & { readonly model?: string }, limits: NamedLimits) => {
    const { calls: count = 0, successes: success = 0, tokensPerMinute: max = 0 } = limits
    rates.push({ ...subject, count, success, periodMs })
    if (max > 0) tokens.push({ ...subject, max, estimate })
  }
  const { count: calls, success: successes, tokensPerMinute } = userRate
  const ofSite = userRate.isEnabled ? { calls, successes, tokensPerMinute } : undefined
  const ofUser = byGroup.get(group) ?? ofSite
  if (ofUser !== undefined) addLimits(user, ofUser)
  const ofModel = byModel.get(model)
  if (ofModel === undefined) return { rates, tokens }
  const subject = { ...user, model }
  addLimits(subject, ofModel)
  const { concurrency = 0 } = ofModel
  const permits = concurrency > 0 ? [{ ...subject, permits: concurrency }] : []
  return { permits, rates, tokens }
}

/** Estimates the tokens of a call: the input from the request's length, plus all allowed output. */
const estimateOf = ({ body, outputTokensMax, choices }: Sized): number =>
  Math.ceil(body.length / BYTES_PER_TOKEN) + (outputTokensMax ?? 0) * choices
