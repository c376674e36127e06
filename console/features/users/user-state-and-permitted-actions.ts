import {
  ACTIVE,
  ADMIN,
  AUDITOR,
  BANNED,
  SUPER_ADMIN,
  USER,
} from '#read-api/contract/user-roles-and-statuses.ts'
import type { User } from '#read-api/contract/users.ts'

type UserAction =
  | 'edit'
  | 'adjust'
  | 'promote'
  | 'appoint_auditor'
  | 'demote'
  | 'disable'
  | 'enable'
  | 'delete'
  | 'resetSecondFactor'
  | 'erase'
export type Actor = { readonly id: number; readonly role: number }

/**
 * Returns the actions that `actor` may perform on `user`. Admins who are not super admins may act
 * only on normal users, and not on auditors or admins. A deleted user can only be erased, and only
 * by a super admin. The server applies the same rules.
 */
export function permittedActions(user: User, actor: Actor): ReadonlySet<UserAction> {
  const isRoot = actor.role >= SUPER_ADMIN
  const mayErase = isRoot && user.role < SUPER_ADMIN && !user.is_erased
  if (user.DeletedAt !== null) return new Set(mayErase ? ['erase'] : [])
  if (!isRoot && (user.role > USER || actor.role < ADMIN)) return new Set()
  const actions: readonly [UserAction, boolean][] = [
    ['edit', true],
    ['adjust', true],
    ['promote', isRoot && user.role < ADMIN],
    ['appoint_auditor', isRoot && user.role === USER],
    ['demote', isRoot && user.role > USER && user.role < SUPER_ADMIN],
    ['disable', user.status === ACTIVE && user.role < SUPER_ADMIN],
    ['enable', user.status === BANNED],
    ['delete', user.role < SUPER_ADMIN],
    // Users reset their own second factors on the account page.
    ['resetSecondFactor', user.role < SUPER_ADMIN && user.id !== actor.id],
    ['erase', mayErase],
  ]
  return new Set(actions.flatMap(([action, isOffered]) => (isOffered ? [action] : [])))
}

export type UserState = 'active' | 'banned' | 'locked' | 'deactivated' | 'erased'

export function stateOf({ DeletedAt, is_erased, status }: User): UserState {
  if (DeletedAt !== null) return is_erased ? 'erased' : 'deactivated'
  if (status === ACTIVE) return 'active'
  return status === BANNED ? 'banned' : 'locked'
}

export type Level = 'user' | 'auditor' | 'admin' | 'root'

export function levelOf({ role }: Pick<User, 'role'>): Level {
  if (role >= SUPER_ADMIN) return 'root'
  if (role >= ADMIN) return 'admin'
  return role >= AUDITOR ? 'auditor' : 'user'
}

export const displayNameOf = ({ id, username }: Pick<User, 'id' | 'username'>): string =>
  username === '' ? `#${id}` : username
