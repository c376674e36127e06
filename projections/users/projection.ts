import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IdentityEvent, IdentityProvider } from '#domain/identities/events.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'
import type {
  IdentityBound,
  IdentityUnbound,
  UserEvent,
  UsernameEvent,
  UserPasswordChanged,
} from '#domain/users/events.ts'
import { USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import { cellsOfFields } from '../resource-field-columns.ts'
import type { Cells, RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'
import { SETTING_COLUMNS } from './query.ts'

type OfUser = Recorded<Fact<string, { readonly userId: number }>>

/**
 * Sets the given columns in the row of the event's user. The event's position is stored as the
 * position of the user's last change.
 */
const changeUser = (
  { data, position }: Pick<OfUser, 'data' | 'position'>,
  rows: RowChanges,
  cells: Cells,
): void => rows.patch('users', { id: data.userId }, { ...cells, changed_position: position })

const IDENTITY_COLUMNS: Record<IdentityProvider, string> = {
  email: 'email',
  github: 'github_id',
  oidc: 'oidc_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
  linuxdo: 'linux_do_id',
}

const NO_IDENTITIES = Object.fromEntries(
  Object.values(IDENTITY_COLUMNS).map((column) => [column, '']),
)

/**
 * The handlers for identities. An identity's stream sets the identity's owner, and a user's stream
 * sets the user's fields. Each row is therefore changed by only one lane. NOTE: the row of a
 * released identity is kept, because a user can claim the identity again in the same batch.
 */
const identityRows: Handlers<IdentityEvent | IdentityBound | IdentityUnbound> = {
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

/** The texts of an erased user. A rebuild cannot decrypt the texts and also gets empty texts. */
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

/**
 * The users, their names and their identities. Names are decrypted, so that admins can search for
 * them.
 */
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
      const { settings } = event.data
      changeUser(event, rows, cellsOfFields(USER_SETTING_FIELDS, settings, SETTING_COLUMNS))
    },
  },
})
