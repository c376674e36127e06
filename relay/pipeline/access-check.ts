import type { Core } from '#infra/core.ts'
import type { Views } from '#relay/views/views.ts'
import type { RelayErrorCode } from '../canonical/relay-error.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { Caller } from './authenticate.ts'

/** Why a caller may no longer call; null while it may. */
export type AccessCheck = () => RelayErrorCode | null

type Deps = Pick<Core, 'vault' | 'now' | 'log'> & { readonly views: Views }

/**
 * Says whether the caller of a running call would still be let in: the same rules as at its start,
 * by the views as they are now. Costs a few look-ups; only a changed list of addresses is opened,
 * and takes effect with a later check.
 */
export function accessCheck(
  { views, vault, now, log }: Deps,
  { token, user, group }: Caller,
  clientIp: string,
): AccessCheck {
  // A playground's token stands in no view: it is as good as its user.
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
    const { usableGroups } = views.options.options
    const isUsable = group === currentUser.group || usableGroups.has(group)
    // Somebody who is moved to another group keeps what was begun in the group of before.
    return isGroupChosen && !isUsable ? 'group_not_allowed' : null
  }
}
