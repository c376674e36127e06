import { type Denial, isDenial } from '#relay/canonical/denial.ts'
import { type RateRule, ruleOfToken } from '#relay/limits/call-rates.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Caller } from './authenticate.ts'
import type { RelayParts } from './relay-parts.ts'

/** A call's place among those under way; `leave` once, at its end. */
export type Seat = { readonly leave: (isSuccess: boolean) => void }

/** Rate limits of the token and of its user, then the caps on calls at once. */
export function takeSeat(parts: RelayParts, { token, user, group }: Caller): Seat | Denial {
  const { concurrency, rates, now, views } = parts
  const full = concurrency.enter(user.userId, token.tokenId)
  if (full !== null) return full
  const rules = [
    ruleOfToken(token.tokenId, token.terms.rateLimit),
    ruleOfUser(user.userId, group, views.options.options.userRate),
  ].filter((rule) => rule !== null)
  const ticket = rules.length === 0 ? null : rates.enter(rules, now())
  if (ticket !== null && isDenial(ticket)) {
    concurrency.leave(user.userId, token.tokenId)
    return ticket
  }
  return {
    leave: (isSuccess) => {
      concurrency.leave(user.userId, token.tokenId)
      ticket?.end(isSuccess)
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
