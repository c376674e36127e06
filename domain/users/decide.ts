import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import { ADMIN, AUDITOR, SUPER_ADMIN, USER } from '../shared/user-roles-and-statuses.ts'
import type {
  ActorRole,
  BindIdentity,
  CreateUser,
  DropPasskeys,
  EraseUser,
  LoginMethod,
  UnbindIdentity,
  UserCommand,
  UserError,
  UsernameCommand,
  UsernameError,
} from './commands.ts'
import type { Role, UserEvent, UsernameEvent, UserSettings } from './events.ts'
import { evolveUser, initialUser, type UserRecord, type UserState } from './state.ts'

type Outcome = readonly UserEvent[] | UserError

export const userDecider: Decider<UserState, UserCommand, UserEvent, UserError> = {
  initialState: initialUser,
  evolve: evolveUser,
  decide: (command, { user }) => {
    if (command.type === 'CreateUser') return create(command, user)
    if (command.type === 'EraseUser') return erase(command, user)
    if (user === null || user.isDeleted) return codedError('UserUnknown')
    return change(command, user)
  },
}

function create({ type, ...data }: CreateUser, user: UserRecord | null): Outcome {
  if (user === null) return [{ type: 'UserCreated', v: 1, data }]
  return user.passwordRef === data.passwordRef ? [] : codedError('UserExists')
}

/** Erases a user, who may already be deactivated. A repeated command changes nothing. */
function erase({ actorRole }: EraseUser, user: UserRecord | null): Outcome {
  if (user === null) return codedError('UserUnknown')
  if (actorRole < SUPER_ADMIN) return codedError('OnlySuperAdminErases')
  if (user.role === SUPER_ADMIN) return codedError('SuperAdminProtected')
  if (user.isErased) return []
  const erased = { type: 'UserErased', v: 1, data: { userId: user.userId } } as const
  return user.isDeleted
    ? [erased]
    : [{ type: 'UserDeleted', v: 1, data: nextAuthVersion(user) }, erased]
}

function change(command: Exclude<UserCommand, CreateUser | EraseUser>, user: UserRecord): Outcome {
  if (command.type === 'MustExist') return []
  if (command.type === 'ChangeSettings') return changeSettings(command.settings, user)
  if (command.type === 'BindIdentity') return bindIdentity(command, user)
  if (command.type === 'UnbindIdentity') return unbindIdentity(command, user)
  if (command.type === 'DropPasskeys') return dropPasskeys(command, user)
  const { userId } = user
  if (!mayChange(user, command.actorRole)) return codedError('RoleTooHigh')
  switch (command.type) {
    case 'ChangeProfile': {
      const { displayName } = command
      if (displayName === undefined || displayName === user.displayName) return []
      return [{ type: 'UserProfileChanged', v: 1, data: { userId, displayName } }]
    }
    case 'ChangePassword': {
      const { passwordRef } = command
      if (passwordRef === user.passwordRef) return []
      const { ifVersion = user.authVersion } = command
      if (ifVersion !== user.authVersion) return codedError('LoginVoid')
      const temporary = command.isTemporary === true ? ({ isTemporary: true } as const) : {}
      const data = { passwordRef, ...nextAuthVersion(user), ...temporary }
      return [{ type: 'UserPasswordChanged', v: 1, data }]
    }
    case 'ChangeGroup': {
      const { group, note } = command
      if (group === user.group) return []
      const data = { userId, group, ...(note === undefined ? {} : { note }) }
      return [{ type: 'UserGroupChanged', v: 1, data }]
    }
    case 'PromoteUser':
      if (command.actorRole < SUPER_ADMIN) return codedError('OnlySuperAdminPromotes')
      return user.role < ADMIN ? changeRole(user, ADMIN) : []
    case 'AppointAuditor':
      if (command.actorRole < SUPER_ADMIN) return codedError('OnlySuperAdminPromotes')
      return user.role === USER ? changeRole(user, AUDITOR) : []
    case 'DemoteUser':
      if (user.role === SUPER_ADMIN) return codedError('SuperAdminProtected')
      return user.role === USER ? [] : changeRole(user, USER)
    case 'DisableUser':
      if (user.role === SUPER_ADMIN) return codedError('SuperAdminProtected')
      return user.isEnabled ? [{ type: 'UserDisabled', v: 1, data: nextAuthVersion(user) }] : []
    case 'EnableUser':
      return user.isEnabled ? [] : [{ type: 'UserEnabled', v: 1, data: { userId } }]
    case 'DeleteUser':
      if (user.role === SUPER_ADMIN) return codedError('SuperAdminProtected')
      return [{ type: 'UserDeleted', v: 1, data: nextAuthVersion(user) }]
    case 'MayAct':
      return []
    case 'VoidLogins':
      return [{ type: 'UserLoginsVoided', v: 1, data: nextAuthVersion(user) }]
  }
}

/**
 * Reports whether the actor may change the user, deleted or not. An admin may change only normal
 * users. The super admin may change all users. Only the super admin may change auditors, because
 * auditors also audit the admins. `actorRole` is null if users change their own account.
 */
export function mayChange(user: UserRecord, actorRole: ActorRole): boolean {
  if (actorRole === null || actorRole === SUPER_ADMIN) return true
  return actorRole === ADMIN && user.role === USER
}

/**
 * Returns the user id and the increased `authVersion`, which invalidates all sessions and access
 * tokens.
 */
const nextAuthVersion = ({ userId, authVersion }: UserRecord) => ({
  userId,
  authVersion: authVersion + 1,
})

const changeRole = (user: UserRecord, role: Role): Outcome => [
  { type: 'UserRoleChanged', v: 1, data: { role, ...nextAuthVersion(user) } },
]

function changeSettings(settings: UserSettings, user: UserRecord): Outcome {
  if (isSame(settings, user.settings)) return []
  return [{ type: 'UserSettingsChanged', v: 1, data: { userId: user.userId, settings } }]
}

function bindIdentity(command: BindIdentity, { userId, identities }: UserRecord): Outcome {
  const { provider, identityKey, identity, replaces } = command
  const bound = identities[provider] ?? null
  if (bound === identityKey) return []
  if (bound !== replaces) return codedError('IdentityChanged')
  return [{ type: 'IdentityBound', v: 1, data: { userId, provider, identityKey, identity } }]
}

function unbindIdentity(command: UnbindIdentity, user: UserRecord): Outcome {
  const { provider, identityKey, enabledLoginMethods, expectedRemovedLoginMethods } = command
  const bound = user.identities[provider]
  if (bound === undefined) return []
  if (bound !== identityKey) return codedError('IdentityChanged')
  if (user.removedLoginMethods !== expectedRemovedLoginMethods) return codedError('WaysInChanged')
  const others = enabledLoginMethods.filter((method) => method !== provider)
  if (!hasLoginMethod(user, others)) return codedError('LastWayIn')
  return [{ type: 'IdentityUnbound', v: 1, data: { userId: user.userId, provider, identityKey } }]
}

/**
 * Records the removal of the user's passkeys. The same append removes the passkeys from the
 * credentials.
 */
function dropPasskeys(
  { enabledLoginMethods, expectedRemovedLoginMethods }: DropPasskeys,
  user: UserRecord,
): Outcome {
  if (user.removedLoginMethods !== expectedRemovedLoginMethods) return codedError('WaysInChanged')
  if (!hasLoginMethod(user, enabledLoginMethods)) return codedError('LastWayIn')
  return [{ type: 'UserPasskeysGone', v: 1, data: { userId: user.userId } }]
}

const hasLoginMethod = (user: UserRecord, open: readonly LoginMethod[]): boolean =>
  open.some((method) => {
    if (method === 'passkey') return true
    return method === 'password' ? user.passwordRef !== null : user.identities[method] !== undefined
  })

/** The owner of one username. `userId` is null while no user owns the name. */
export type UsernameState = { readonly userId: number | null }

/**
 * The decider of one username. The first user who claims the name owns the name until the user is
 * erased.
 */
export const usernameDecider: Decider<
  UsernameState,
  UsernameCommand,
  UsernameEvent,
  UsernameError
> = {
  initialState: () => ({ userId: null }),
  decide: ({ type, ...data }, state) => {
    if (type === 'ReleaseUsername') {
      return state.userId === data.userId ? [{ type: 'UsernameReleased', v: 1, data }] : []
    }
    if (state.userId === data.userId) return []
    if (state.userId !== null) return codedError('UsernameTaken')
    return [{ type: 'UsernameClaimed', v: 1, data }]
  },
  evolve: (_state, { type, data }) => ({
    userId: type === 'UsernameClaimed' ? data.userId : null,
  }),
}
