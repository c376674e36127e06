import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IdentityEvent } from '#domain/identity/events.ts'
import type { UserEvent, UsernameEvent, UserPasswordChanged } from '#domain/user/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../seconds.ts'
import { identityRows, NO_IDENTITIES } from './identity-rows.ts'

/** Every text of a person, as a rebuild has it once the key is gone. */
const NO_TEXTS = { username: '', display_name: '' }

const TABLES = {
  users: { key: ['id'] },
  names: { key: ['name_key'] },
  identities: { key: ['provider', 'identity_key'] },
}

const passwordRow = ({ passwordRef, authVersion, isTemporary }: UserPasswordChanged['data']) => ({
  password_ref: passwordRef,
  auth_version: authVersion,
  must_change_password: isTemporary === true,
})

/** Who there is, with names opened, so that they can be searched. */
export const users = projectionOf<UserEvent | UsernameEvent | IdentityEvent>({
  name: 'users',
  version: 5,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: TABLES,
  handlers: {
    UsernameClaimed: ({ data }, rows) =>
      rows.put('names', { name_key: data.nameKey }, { user_id: data.userId }),
    ...identityRows,
    UserCreated: async ({ data, meta }, rows, { open }) =>
      rows.insert(
        'users',
        { id: data.userId },
        {
          username: await open(data.userId, data.username),
          display_name: await open(data.userId, data.displayName),
          role: data.role,
          user_group: data.group,
          password_ref: data.passwordRef,
          inviter_id: data.inviterId,
          created_at: secondsOf(meta.at),
        },
      ),
    UserProfileChanged: async ({ data }, rows, { open }) => {
      if (data.displayName === undefined) return
      const display_name = await open(data.userId, data.displayName)
      rows.patch('users', { id: data.userId }, { display_name })
    },
    UserPasswordChanged: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, passwordRow(data)),
    UserGroupChanged: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { user_group: data.group }),
    UserRoleChanged: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { role: data.role, auth_version: data.authVersion }),
    UserDisabled: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { status: 2, auth_version: data.authVersion }),
    UserEnabled: ({ data }, rows) => rows.patch('users', { id: data.userId }, { status: 1 }),
    UserDeleted: ({ data, meta }, rows) =>
      rows.patch(
        'users',
        { id: data.userId },
        { deleted_at: secondsOf(meta.at), auth_version: data.authVersion },
      ),
    UserLoginsVoided: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { auth_version: data.authVersion }),
    UserErased: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { ...NO_TEXTS, ...NO_IDENTITIES, is_erased: true }),
    UserSettingsChanged: ({ data: { userId, settings } }, rows) =>
      rows.patch(
        'users',
        { id: userId },
        { accepts_unpriced: settings.acceptUnsetModelRatioModel, shows_ip: settings.showIpInLogs },
      ),
  },
})
