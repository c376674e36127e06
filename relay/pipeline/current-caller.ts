import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { RelayToken } from '../views/token-view.ts'
import { type Caller, callerOf, groupOfCaller } from './authenticate.ts'
import { isGroupUsable } from './groups-that-may-serve-call.ts'
import type { Exchange } from './http-exchange.ts'
import { groupError } from './model-access-errors.ts'
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
 * `caller` has the group of the plan. If the token has lost a model, the group of the token or of
 * its user has changed, or the group of the plan was closed to users, the plan may no longer be
 * allowed, so the error asks the caller to send the request again. Other changes, such as another
 * name of the token, do not concern the plan.
 */
export async function changedAccessError(
  deps: Deps,
  caller: Caller,
  exchange: Pick<Exchange, 'clientIp'>,
): Promise<RelayError | null> {
  const current = await currentCaller(deps, caller, exchange)
  if (isRelayError(current)) return current
  const { token, user } = current
  const isSameGroup =
    token.terms.group === caller.token.terms.group && user.group === caller.user.group
  if (!isSameGroup || hasLostModel(caller.token, token)) return CHANGED
  const { options } = deps.views.options
  // If the group of the token is `auto`, the plan has one of the groups for which it stands.
  const closed = groupError({ group: groupOfCaller(token, user), user }, options)
  if (closed !== null) return closed
  return isGroupUsable({ group: caller.group, user }, options) ? null : CHANGED
}

const CHANGED = relayError('overloaded', { retryAfter: 2 })

/** Reports whether `before` allowed a model that `current` does not allow. */
function hasLostModel({ models: before }: RelayToken, { models: current }: RelayToken): boolean {
  if (current === null) return false
  return before === null || !before.isSubsetOf(current)
}

/**
 * Calls `onLost` once if the caller loses access. Returns the function that ends the watch, which
 * must be called. A check costs two look-ups in memory while nothing changes.
 */
export function watchAccess(
  deps: Deps & Pick<RelayDeps, 'timer' | 'deadlines'>,
  caller: Caller,
  exchange: Pick<Exchange, 'clientIp'>,
  onLost: (error: RelayError) => void,
): () => void {
  let latest = caller
  let checkedAt = performance.now()
  let isOver = false
  const note = (current: Caller | RelayError): void => {
    // If the IP list of a token can't be read at the moment, it is read again by the next check.
    if (isOver || (isRelayError(current) && current.code === 'store_unavailable')) return
    if (!isRelayError(current)) {
      latest = current
      return
    }
    isOver = true
    onLost(current)
  }
  const onTick = (now: number): boolean => {
    if (isOver || now - checkedAt < deps.deadlines.accessCheckMs) return !isOver
    checkedAt = now
    const current = currentCaller(deps, latest, exchange)
    if (current instanceof Promise) current.then(note, () => {})
    else note(current)
    return !isOver
  }
  deps.timer.add({ onTick })
  return () => {
    isOver = true
  }
}
