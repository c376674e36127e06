import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { FailedKeys } from '#relay/limits/block-key-guessing.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { RelayToken } from '../views/token-view.ts'
import type { RelayUser } from '../views/user-view.ts'
import type { CallRequest } from './http-request-and-response-types.ts'
import { tokenKeyHashCacheOf } from './token-key-hash-cache.ts'

/** The authenticated caller of a call. */
export type Caller = {
  /** Playground calls have a generated token: see `relay/playground/`. */
  readonly token: RelayToken
  readonly user: RelayUser
  /**
   * The group whose prices and channels apply to the call. The group `auto` stands for several
   * groups: see `groupsOf`.
   */
  readonly group: string
  readonly pinnedChannelId: number | null
  /**
   * Returns whether the session that started a playground call has ended. Undefined for all other
   * calls.
   */
  readonly hasSessionEnded?: () => boolean
}

type Deps = {
  readonly views: Views
  readonly vault: Pick<Vault, 'keyedHash' | 'open'>
  readonly failedKeys: FailedKeys
}

const KEY = /^(?:sk-)?([A-Za-z0-9_]{8,200})(?:-([1-9]\d{0,14}))?$/

/**
 * Authenticates the caller. The error for an unknown key reveals nothing about tokens or users.
 * Returns a promise only for a wrong key or for a token with an IP list.
 */
export function authenticate(
  { views, vault, failedKeys }: Deps,
  request: Pick<CallRequest, 'headers' | 'url'>,
  clientIp: string,
  now: number,
): Caller | RelayError | Promise<Caller | RelayError> {
  const waitSeconds = failedKeys.waitSeconds(clientIp)
  if (waitSeconds > 0) return tooManyWrong(waitSeconds)
  const text = keyInRequest(request)
  if (text === null) return relayError('missing_key')
  const [, key, pinned] = KEY.exec(text) ?? []
  if (key === undefined) return rejectKey(failedKeys, clientIp)
  const hashes = tokenKeyHashCacheOf(vault)
  const remembered = hashes.find(key)
  const lookup = remembered ?? vault.keyedHash('token-key', key)
  const pinnedChannelId = pinned === undefined ? null : Number(pinned)
  const caller = callerOf({ views, vault }, lookup, pinnedChannelId, clientIp, now)
  if (caller === null) return rejectKey(failedKeys, clientIp)
  if (remembered === undefined) hashes.add(key, lookup)
  return caller
}

/**
 * Returns the caller whose token has the key hash `keyLookup`, or an error if the token can't be
 * used for this call. Returns null if the token or its user is unknown.
 */
export function callerOf(
  { views, vault }: Pick<Deps, 'views' | 'vault'>,
  keyLookup: string,
  pinnedChannelId: number | null,
  clientIp: string,
  now: number,
): Caller | RelayError | Promise<Caller | RelayError> | null {
  const token = views.tokens.find(keyLookup)
  const user = token === undefined ? undefined : views.users.find(token.userId)
  if (token === undefined || user === undefined) return null
  if (!token.isEnabled) return relayError('token_disabled')
  const { expiresAt } = token.terms
  if (expiresAt !== null && expiresAt * 1_000 <= now) return relayError('token_expired')
  if (!user.isEnabled) return relayError('user_disabled')
  const isPinAllowed = pinnedChannelId === null || user.role >= ADMIN
  const caller = { token, user, group: groupOfCaller(token, user), pinnedChannelId }
  const outcome = isPinAllowed ? caller : relayError('channel_not_allowed')
  if (token.terms.allowIps === null) return outcome
  return checkAddress(token, clientIp, vault).then((error) => error ?? outcome)
}

/** Returns the group of a token, which is the group of its user unless the token names one. */
export const groupOfCaller = (
  { terms }: Pick<RelayToken, 'terms'>,
  user: Pick<RelayUser, 'group'>,
): string => (terms.group === '' ? user.group : terms.group)

async function rejectKey(failedKeys: FailedKeys, clientIp: string): Promise<RelayError> {
  const waitSeconds = await failedKeys.failed(clientIp)
  return waitSeconds > 0 ? tooManyWrong(waitSeconds) : relayError('invalid_key')
}

async function checkAddress(
  token: RelayToken,
  clientIp: string,
  vault: Pick<Vault, 'open'>,
): Promise<RelayError | null> {
  try {
    return (await token.isIpAllowed(clientIp, vault)) ? null : relayError('ip_not_allowed')
  } catch {
    return relayError('store_unavailable', { retryAfter: 5 })
  }
}

const tooManyWrong = (retryAfter: number): RelayError =>
  relayError('too_many_failed_keys', { retryAfter })

/**
 * Returns the key of a request, or null if it has none. Clients send the key in different headers
 * or in a query parameter.
 */
export function keyInRequest(request: Pick<CallRequest, 'headers' | 'url'>): string | null {
  const { headers, url = '' } = request
  const { authorization } = headers
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    return authorization.slice(7).trim()
  }
  const named = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers['mj-api-secret']
  if (named !== undefined) return String(named).trim()
  const query = url.indexOf('?')
  return query < 0 ? null : new URLSearchParams(url.slice(query)).get('key')
}
