import { groupRatioOf } from '#domain/pricing/price-list.ts'
import type { Core } from '#infra/core.ts'
import type { Views } from '#relay/views/views.ts'
import type { RelayErrorCode } from '../canonical/relay-error.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { Caller } from './authenticate.ts'
import type { EmptiedAccounts } from './emptied-accounts.ts'
import type { Exchange } from './exchange.ts'

/** Why a caller may no longer call; null while it may. */
export type AccessCheck = () => RelayErrorCode | null

type Deps = Pick<Core, 'vault' | 'now' | 'log'> & {
  readonly views: Views
  readonly emptied: EmptiedAccounts
}

/**
 * Says whether the caller of a running call would still be admitted: by the same rules as at its
 * start, with the views as they are now. A check costs a few look-ups. A changed list of addresses
 * has to be opened first, and an account has to be read, so both take effect with a later check.
 */
export function accessCheck(
  { views, vault, now, log, emptied }: Deps,
  { token, user, group }: Caller,
  { clientIp, call }: Pick<Exchange, 'clientIp' | 'call'>,
): AccessCheck {
  // A playground's token is in no view, and may call for as long as its user may.
  const isListed = token.keyLookup !== ''
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
      (err: unknown) => log.warn({ err, tokenId: current.tokenId }, 'a list could not be opened'),
    )
  }
  return () => {
    const currentUser = views.users.find(user.userId)
    if (currentUser?.isEnabled !== true) return 'user_disabled'
    if (isListed) {
      const current = views.tokens.find(token.keyLookup)
      if (current === undefined) return 'invalid_key'
      if (!current.isEnabled) return 'token_disabled'
      const { expiresAt } = current.terms
      if (expiresAt !== null && expiresAt * 1_000 <= now()) return 'token_expired'
      if (current !== checkedToken) checkAddress(current)
      if (isAddressRefused) return 'ip_not_allowed'
    }
    const { options, prices } = views.options
    const isUsable = group === currentUser.group || options.usableGroups.has(group)
    // A user who is moved to another group keeps the calls that began in the former one.
    if (isGroupChosen && !isUsable) return 'group_not_allowed'
    const isDeleted = groupRatioOf(prices, user.group, group) === undefined
    return isDeleted ? 'group_not_allowed' : emptied.errorOf(user.userId, call)
  }
}
