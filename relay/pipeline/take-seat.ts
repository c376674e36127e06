import { isFull } from '#infra/limits/port.ts'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import { callClaims, type RateRule, ruleOfToken } from '#relay/limits/call-claims.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Caller } from './authenticate.ts'
import type { RelayParts } from './relay-parts.ts'

/** A call's place among those under way; `leave` once, at its end. */
export type CallSeat = { readonly leave: (isSuccess: boolean) => void }

/**
 * This process's cap on calls at once; then, in one decision that all relays share, those of the
 * user and the token and the rate limits of both.
 */
export async function takeSeat(
  parts: RelayParts,
  { token, user, group }: Caller,
): Promise<CallSeat | Denial> {
  const { underWay, limits, caps, views } = parts
  if (!underWay.enter()) {
    return deny('overloaded', { retryAfterSeconds: 1 + Math.floor(Math.random() * 3) })
  }
  const rules = [
    ruleOfToken(token.tokenId, token.terms.rateLimit),
    ruleOfUser(user.userId, group, views.options.options.userRate),
  ].filter((rule) => rule !== null)
  const { claims, denialOf } = callClaims(user.userId, token.tokenId, caps, rules)
  const seat = await limits.enter(`user:${user.userId}`, claims)
  if (isFull(seat)) {
    underWay.leave()
    return denialOf(seat)
  }
  return {
    leave: (isSuccess) => {
      underWay.leave()
      seat.leave({ isRefunded: !isSuccess })
    },
  }
}

function ruleOfUser(
  userId: number,
  group: string,
  rate: RelayOptions['userRate'],
): RateRule | null {
  if (!rate.isEnabled || rate.exemptGroup === group) return null
  const { count, success, periodMs } = rate
  return { scope: 'user', id: userId, count, success, periodMs }
}
