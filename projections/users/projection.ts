import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IdentityEvent } from '#domain/identity/events.ts'
import type { UserEvent, UsernameEvent, UserPasswordChanged } from '#domain/user/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../seconds.ts'
import { changeUser } from './change-user.ts'
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
  version: 7,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: TABLES,
  handlers: {
    UsernameClaimed: ({ data }, rows) =>
      rows.put('names', { name_key: data.nameKey }, { user_id: data.userId }),
    UsernameReleased: ({ data }, rows) =>
      rows.put('names', { name_key: data.nameKey }, { user_id: null }),
    ...identityRows,
    UserCreated: async ({ data, meta, position }, rows, { open }) =>
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
          changed_position: position,
        },
      ),
    UserProfileChanged: async (event, rows, { open }) => {
      const { userId, displayName } = event.data
      if (displayName === undefined) return
      changeUser(event, rows, { display_name: await open(userId, displayName) })
    },
    UserPasswordChanged: (event, rows) => changeUser(event, rows, passwordRow(event.data)),
    UserGroupChanged: (event, rows) => changeUser(event, rows, { user_group: event.data.group }),
    UserRoleChanged: (event, rows) => {
      const { role, authVersion } = event.data
      changeUser(event, rows, { role, auth_version: authVersion })
    },
    UserDisabled: (event, rows) =>
      changeUser(event, rows, { status: 2, auth_version: event.data.authVersion }),
    UserEnabled: (event, rows) => changeUser(event, rows, { status: 1 }),
    UserDeleted: (event, rows) => {
      const { authVersion } = event.data
      const cells = { deleted_at: secondsOf(event.meta.at), auth_version: authVersion }
      changeUser(event, rows, cells)
    },
    UserLoginsVoided: (event, rows) =>
      changeUser(event, rows, { auth_version: event.data.authVersion }),
    UserErased: (event, rows) =>
      changeUser(event, rows, { ...NO_TEXTS, ...NO_IDENTITIES, is_erased: true }),
    UserSettingsChanged: (event, rows) => {
      const { acceptUnsetModelRatioModel, showIpInLogs } = event.data.settings
      const cells = { accepts_unpriced: acceptUnsetModelRatioModel, shows_ip: showIpInLogs }
      changeUser(event, rows, cells)
    },
  },
})
