import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { type Caller, callerOf } from './authenticate.ts'
import type { Exchange } from './http-exchange.ts'
import type { RelayDeps } from './relay-deps.ts'

type Deps = Pick<RelayDeps, 'views' | 'vault' | 'now'>

/**
 * Returns an authenticated caller with the current state of its token and user. A caller can delay
 * the end of a request's body for minutes, so a request that was authenticated before its body must
 * not be served on the basis of that state. Returns the same caller if nothing has changed, and an
 * error if the caller has lost access. Returns a promise only if the token was changed and has an
 * IP list.
 */
export function currentCaller(
  { views, vault, now }: Deps,
  caller: Caller,
  { clientIp }: Pick<Exchange, 'clientIp'>,
): Caller | RelayError | Promise<Caller | RelayError> {
  const { token, user, pinnedChannelId, hasSessionEnded } = caller
  if (hasSessionEnded?.() === true) return relayError('session_ended')
  const currentUser = views.users.find(user.userId)
  // Views do not contain the generated token of a playground call.
  if (token.keyLookup === '') {
    if (currentUser === user) return caller
    if (currentUser?.isEnabled !== true) return relayError('user_disabled')
    return { ...caller, user: currentUser, group: currentUser.group }
  }
  const { expiresAt } = token.terms
  const hasExpired = expiresAt !== null && expiresAt * 1_000 <= now()
  const isUnchanged = currentUser === user && views.tokens.find(token.keyLookup) === token
  if (isUnchanged && !hasExpired) return caller
  const current = callerOf({ views, vault }, token.keyLookup, pinnedChannelId, clientIp, now())
  return current ?? relayError('invalid_key')
}

/**
 * Returns an error if the caller has lost access since its request was planned, and null otherwise.
 * If the terms of the token or the user's group have changed, the plan may no longer be allowed, so
 * the error asks the caller to send the request again.
 */
export async function changedAccessError(
  deps: Deps,
  caller: Caller,
  exchange: Pick<Exchange, 'clientIp'>,
): Promise<RelayError | null> {
  const current = await currentCaller(deps, caller, exchange)
  if (isRelayError(current)) return current
  const isSame = current.token === caller.token && current.user.group === caller.user.group
  return isSame ? null : relayError('overloaded', { retryAfter: 2 })
}
