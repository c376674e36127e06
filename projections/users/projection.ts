import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UserEvent, UsernameEvent } from '#domain/user/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../seconds.ts'

/** Every text of a person, as a rebuild has it once the key is gone. */
const NO_TEXTS = { username: '', display_name: '' }

/** Who there is, with names opened, so that they can be searched. */
export const users = projectionOf<UserEvent | UsernameEvent>({
  name: 'users',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { users: { key: ['id'] }, names: { key: ['name_key'] } },
  handlers: {
    UsernameClaimed: ({ data }, rows) =>
      rows.put('names', { name_key: data.nameKey }, { user_id: data.userId }),
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
      rows.patch(
        'users',
        { id: data.userId },
        { password_ref: data.passwordRef, auth_version: data.authVersion },
      ),
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
    UserErased: ({ data }, rows) =>
      rows.patch('users', { id: data.userId }, { ...NO_TEXTS, is_erased: true }),
    UserSettingsChanged: ({ data: { userId, settings } }, rows) =>
      rows.patch(
        'users',
        { id: userId },
        { accepts_unpriced: settings.acceptUnsetModelRatioModel, shows_ip: settings.showIpInLogs },
      ),
  },
})
