import type { Sealed } from '#domain/shared/event.ts'
import { userDecider } from '#domain/users/decide.ts'
import type { Role, UserEvent } from '#domain/users/events.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

export const { given } = specificationOf(userDecider)

export const sealed = (text: string): Sealed => text as Sealed

const PROFILE = {
  userId: 7,
  username: sealed('s-name'),
  displayName: sealed('s-display'),
  group: 'default',
  passwordRef: 'ref-1',
  inviterId: null,
}

export const createUser = (role: Role = 1) => ({ type: 'CreateUser', ...PROFILE, role }) as const

export const created = (role: Role = 1): UserEvent => ({
  type: 'UserCreated',
  v: 1,
  data: { ...PROFILE, role },
})

export const roleChanged = (role: Role, authVersion = 2): UserEvent => ({
  type: 'UserRoleChanged',
  v: 1,
  data: { userId: 7, role, authVersion },
})

export const disabled = (authVersion = 2): UserEvent => ({
  type: 'UserDisabled',
  v: 1,
  data: { userId: 7, authVersion },
})

export const enabled: UserEvent = { type: 'UserEnabled', v: 1, data: { userId: 7 } }

export const deleted = (authVersion = 2): UserEvent => ({
  type: 'UserDeleted',
  v: 1,
  data: { userId: 7, authVersion },
})

export const passwordChanged = (passwordRef: string, authVersion = 2): UserEvent => ({
  type: 'UserPasswordChanged',
  v: 1,
  data: { userId: 7, passwordRef, authVersion },
})

export const erased: UserEvent = { type: 'UserErased', v: 1, data: { userId: 7 } }
