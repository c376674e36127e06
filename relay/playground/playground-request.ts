import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import type { Authenticator } from '../pipeline/execute-call.ts'
import { RelayToken } from '../views/token-view.ts'

/** A chat request from the console, with the console's settings separated from the body. */
type PlaygroundRequest = {
  /** The group whose prices and channels are used. An empty text selects the user's own group. */
  readonly group: string
  readonly body: Buffer
}

/** The member names that this file reads. The chat parser checks all other members. */
const NAMES = namesByFoldedName(['group', 'max_tokens'])
const ZERO = /^-?0(\.0+)?$/

/**
 * Separates the console's settings from the body of a chat request. `group` is removed from the
 * body, because providers do not know it. A `max_tokens` of 0 is removed, because it means no limit
 * in the console but is an error at most providers. A body that is not a JSON object is returned
 * unchanged. The chat parser refuses such a body later. Returns an error if `group` is neither a
 * text nor null, or if a member's name differs only by letter case from another member's name or
 * from one of `NAMES`.
 */
export function playgroundRequest(body: Buffer): PlaygroundRequest | RelayError {
  const members = scanObject(body, NAMES)
  if ('error' in members) {
    return members.error === 'ambiguous' ? jsonError(body, members) : { group: '', body }
  }
  const raw = (start: number, end: number) => body.toString('utf8', start, end)
  let group = ''
  const remaining = members.filter(({ key, kind, valueStart, valueEnd }) => {
    if (key === 'group' && kind === 'string') group = JSON.parse(raw(valueStart, valueEnd))
    if (key === 'group') return kind !== 'string' && kind !== 'null'
    return key !== 'max_tokens' || !ZERO.test(raw(valueStart, valueEnd))
  })
  if (remaining.some(({ key }) => key === 'group'))
    return relayError('invalid_parameter', { param: 'group' })
  if (remaining.length === members.length) return { group, body }
  const parts = remaining.flatMap(({ keyStart, valueEnd }, index) => [
    Buffer.from(index === 0 ? '' : ','),
    body.subarray(keyStart, valueEnd),
  ])
  return { group, body: Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]) }
}

/** The session that sends a chat from the console. */
export type PlaygroundSession = {
  readonly userId: number
  /** Reports whether the session has ended since the start of the call, for example by a logout. */
  readonly hasEnded: () => boolean
}

/**
 * Returns an authenticator that accepts the user of a session as the caller. This user is charged
 * at the prices of the group that the body names, or of the user's own group if the body names
 * none.
 */
export const sessionAuthenticator = ({ userId, hasEnded }: PlaygroundSession): Authenticator => ({
  authenticate: async ({ views }) => {
    const user = views.users.find(userId)
    // A new user may have a session before the relay has received the event that created the user.
    if (user === undefined) return relayError('store_unavailable', { retryAfter: 1 })
    if (!user.isEnabled) return relayError('not_logged_in')
    const tokenId = playgroundTokenId(userId)
    const token = new RelayToken({
      tokenId,
      userId,
      terms: UNRESTRICTED_TERMS,
      isEnabled: true,
      keyLookup: '',
    })
    const hasSessionEnded = hasEnded
    return { token, user, group: user.group, pinnedChannelId: null, hasSessionEnded }
  },
  readBodySettings: (caller, body) => {
    const own = playgroundRequest(body)
    if (isRelayError(own)) return own
    const group = own.group === '' ? caller.group : own.group
    return { caller: { ...caller, group }, body: own.body }
  },
})
