import { groupRatioOf } from '#domain/pricing/price-list.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { Caller } from './authenticate.ts'
import type { BalanceCheck } from './balance-check-of-running-calls.ts'
import { groupsOf, isGroupUsable } from './groups-that-may-serve-call.ts'
import type { Exchange } from './http-exchange.ts'

/**
 * Checks a running call. Returns an error if the call must end because the caller has lost access
 * or can't pay any longer; otherwise null.
 */
export type AccessCheck = () => RelayError | null

type Deps = Pick<Core, 'vault' | 'now' | 'log'> & {
  readonly views: Views
  readonly balanceCheck: BalanceCheck
}

/**
 * Returns a function that checks whether a running call may continue. Each check costs a few
 * look-ups in memory. A check may start asynchronous work, such as reading the account, but does
 * not wait for the result. Later checks use the result.
 */
export function accessCheck(
  { views, vault, now, log, balanceCheck }: Deps,
  { token, user, group, hasSessionEnded = () => false }: Caller,
  { clientIp, call }: Pick<Exchange, 'clientIp' | 'call'>,
): AccessCheck {
  // Views do not contain the generated token of a playground call. For such a call, the status,
  // expiry and IP list of a token are not checked.
  const isStoredToken = token.keyLookup !== ''
  const isGroupChosen = group !== user.group
  let checkedToken: RelayToken = token
  let isAddressRefused = false
  const checkAddress = (current: RelayToken): void => {
    checkedToken = current
    if (current.terms.allowIps === null) {
      isAddressRefused = false
      return
    }
    current.isIpAllowed(clientIp, vault).then(
      (isAllowed) => {
        if (checkedToken === current) isAddressRefused = !isAllowed
      },
      (err: unknown) => {
        const { tokenId } = current
        log.warn({ err, tokenId }, 'the IP list of a token could not be decrypted')
      },
    )
  }
  const currentErrorCode = (): RelayErrorCode | null => {
    const currentUser = views.users.find(user.userId)
    if (currentUser?.isEnabled !== true) return 'user_disabled'
    if (hasSessionEnded()) return 'session_ended'
    if (isStoredToken) {
      const current = views.tokens.find(token.keyLookup)
      if (current === undefined) return 'invalid_key'
      if (!current.isEnabled) return 'token_disabled'
      const { expiresAt } = current.terms
      if (expiresAt !== null && expiresAt * 1_000 <= now()) return 'token_expired'
      if (current !== checkedToken) checkAddress(current)
      if (isAddressRefused) return 'ip_not_allowed'
    }
    const { options, prices } = views.options
    const isUsable = isGroupUsable({ group, user: currentUser }, options)
    // A call in the user's own group continues if an admin moves the user to another group. A call
    // in a group that the caller chose ends if the user may no longer use this group.
    if (isGroupChosen && !isUsable) return 'group_not_allowed'
    const groups = groupsOf({ group, user: currentUser }, options)
    const isDeleted = groups.every((one) => groupRatioOf(prices, user.group, one) === undefined)
    return isDeleted ? 'group_not_allowed' : balanceCheck.errorOf(user.userId, call)
  }
  return () => {
    const code = currentErrorCode()
    return code === null ? null : relayError(code, { subject: group })
  }
}
