import type { IdentityEvent, IdentityProvider } from '#domain/identity/events.ts'
import type { IdentityBound, IdentityUnbound } from '#domain/user/events.ts'
import type { Handlers } from '../projection.ts'
import { changeUser } from './change-user.ts'

const IDENTITY_COLUMNS: Record<IdentityProvider, string> = {
  email: 'email',
  github: 'github_id',
  oidc: 'oidc_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
  linuxdo: 'linux_do_id',
}

export const NO_IDENTITIES = Object.fromEntries(
  Object.values(IDENTITY_COLUMNS).map((column) => [column, '']),
)

/**
 * Whose an identity is comes from its own stream, what a user sees of it from the user's: each row
 * is of one lane. NOTE: a released one keeps its row, since it may be claimed again in one batch.
 */
export const identityRows: Handlers<IdentityEvent | IdentityBound | IdentityUnbound> = {
  IdentityClaimed: ({ data: { provider, identityKey, userId } }, rows) =>
    rows.put('identities', { provider, identity_key: identityKey }, { user_id: userId }),
  IdentityReleased: ({ data: { provider, identityKey } }, rows) =>
    rows.put('identities', { provider, identity_key: identityKey }, { user_id: null }),
  IdentityBound: async (event, rows, { open }) => {
    const { userId, provider, identity } = event.data
    changeUser(event, rows, { [IDENTITY_COLUMNS[provider]]: await open(userId, identity) })
  },
  IdentityUnbound: (event, rows) =>
    changeUser(event, rows, { [IDENTITY_COLUMNS[event.data.provider]]: '' }),
}
