import { playgroundOf } from '#domain/shared/playground.ts'
import type { SharedTerms } from '#domain/token/events.ts'
import { deny, isDenial } from '#relay/canonical/denial.ts'
import type { Authenticator } from '#relay/pipeline/relay-call.ts'
import { RelayToken } from '#relay/views/token-view.ts'
import { ownRequest } from './own-request.ts'

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
    if (user === undefined) return deny('store_unavailable', { retryAfterSeconds: 1 })
    if (!user.isEnabled) return deny('not_logged_in')
    const tokenId = playgroundOf(userId)
    const token = new RelayToken({ tokenId, userId, terms: TERMS, isEnabled: true, keyLookup: '' })
    return { token, user, group: user.group, pinnedChannelId: null }
  },
  open: (caller, body) => {
    const own = ownRequest(body)
    if (isDenial(own)) return own
    const group = own.group === '' ? caller.group : own.group
    return { caller: { ...caller, group }, body: own.body }
  },
})
