import { knownNames } from '#domain/shared/folded-name.ts'
import { playgroundOf } from '#domain/shared/playground.ts'
import type { SharedTerms } from '#domain/token/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/json-error.ts'
import { scanObject } from '../dialects/json-scan.ts'
import type { Authenticator } from '../pipeline/relay-call.ts'
import { RelayToken } from '../views/token-view.ts'

/** What the console says beside the chat itself, and the chat without it. */
type OwnRequest = {
  /** Empty: the user's own. */
  readonly group: string
  readonly body: Buffer
}

/** The chat's own names are looked at where it is read. */
const NAMES = knownNames(['group', 'max_tokens'])
const ZERO = /^-?0(\.0+)?$/

/**
 * Takes `group` out of the body, which no provider knows, and a `max_tokens` of 0, which means no
 * limit here and is an error to most of them. What is no JSON object is left for others to refuse.
 */
export function ownRequest(body: Buffer): OwnRequest | RelayError {
  const members = scanObject(body, NAMES)
  if ('fault' in members) {
    return members.fault === 'ambiguous' ? jsonError(body, members) : { group: '', body }
  }
  const raw = (start: number, end: number) => body.toString('utf8', start, end)
  let group = ''
  const kept = members.filter(({ key, kind, valueStart, valueEnd }) => {
    if (key === 'group' && kind === 'string') group = JSON.parse(raw(valueStart, valueEnd))
    if (key === 'group') return kind !== 'string' && kind !== 'null'
    return key !== 'max_tokens' || !ZERO.test(raw(valueStart, valueEnd))
  })
  if (kept.some(({ key }) => key === 'group'))
    return relayError('invalid_parameter', { param: 'group' })
  if (kept.length === members.length) return { group, body }
  const parts = kept.flatMap(({ keyStart, valueEnd }, index) => [
    Buffer.from(index === 0 ? '' : ','),
    body.subarray(keyStart, valueEnd),
  ])
  return { group, body: Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]) }
}

/** Nothing is narrowed: what the user may call is the limit. */
const TERMS: SharedTerms = {
  expiresAt: null,
  group: '',
  models: null,
  allowIps: null,
  rateLimit: { isEnabled: false, periodSeconds: 60, count: 0, success: 0 },
  tokensPerMinute: 0,
  maxConcurrency: 0,
}

/** How somebody comes in whom the session has named: at their own cost, in the group they say. */
export const sessionAuthenticator = (userId: number): Authenticator => ({
  authenticate: async ({ views }) => {
    const user = views.users.find(userId)
    // The session knew the user first: the view is a moment behind.
    if (user === undefined) return relayError('store_unavailable', { retryAfter: 1 })
    if (!user.isEnabled) return relayError('not_logged_in')
    const tokenId = playgroundOf(userId)
    const token = new RelayToken({ tokenId, userId, terms: TERMS, isEnabled: true, keyLookup: '' })
    return { token, user, group: user.group, pinnedChannelId: null }
  },
  open: (caller, body) => {
    const own = ownRequest(body)
    if (isRelayError(own)) return own
    const group = own.group === '' ? caller.group : own.group
    return { caller: { ...caller, group }, body: own.body }
  },
})
