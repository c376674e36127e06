import { isFull } from '#infra/limits/port.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import type { ChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import {
  callClaims,
  type RateRule,
  ruleOfToken,
  type TokenRule,
} from '#relay/limits/call-claims.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Caller } from './authenticate.ts'
import type { RelayParts } from './relay-parts.ts'

/** How a call ended, for its limits. */
export type CallOutcome = { readonly isSuccess: boolean; readonly tokens: number }

/** A call's place among those under way; `leave` once, at its end. */
export type CallSeat = { readonly leave: (outcome: CallOutcome) => void }

/** Bytes of a request for a token of it, as a guess. */
const BYTES_PER_TOKEN = 4

/**
 * This process's cap on calls at once; then, in one decision that all relays share, those of the
 * user and the token and the rate limits of both.
 */
export async function takeSeat(
  parts: RelayParts,
  { token, user, group }: Caller,
  request: ChatRequest,
): Promise<CallSeat | Denial> {
  const { underWay, limits, caps, views } = parts
  if (!underWay.enter()) {
    return deny('overloaded', { retryAfterSeconds: 1 + Math.floor(Math.random() * 3) })
  }
  const { userId } = user
  const { userRate } = views.options.options
  const isCounted = userRate.isEnabled && userRate.exemptGroup !== group
  const rules = [
    ruleOfToken(token.tokenId, token.terms.rateLimit),
    isCounted ? ruleOfUser(userId, userRate) : null,
  ].filter((rule) => rule !== null)
  const tokens = isCounted ? tokensOfUser(userId, userRate, request) : null
  const { claims, denialOf } = callClaims(userId, token.tokenId, caps, rules, tokens)
  const seat = await limits.enter(`user:${userId}`, claims)
  if (isFull(seat)) {
    underWay.leave()
    return denialOf(seat)
  }
  return {
    leave: ({ isSuccess, tokens }) => {
      underWay.leave()
      seat.leave({ isRefunded: !isSuccess, tokens })
    },
  }
}

type UserRate = RelayOptions['userRate']

const ruleOfUser = (userId: number, { count, success, periodMs }: UserRate): RateRule => ({
  scope: 'user',
  id: userId,
  count,
  success,
  periodMs,
})

/** The input by its length, and all of the output that the caller allows. */
function tokensOfUser(
  userId: number,
  { tokensPerMinute: max }: UserRate,
  { body, outputTokensMax, choices }: ChatRequest,
): TokenRule | null {
  if (max === 0) return null
  const estimate = Math.ceil(body.length / BYTES_PER_TOKEN) + (outputTokensMax ?? 0) * choices
  return { userId, max, estimate }
}
