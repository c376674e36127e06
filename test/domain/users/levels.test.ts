import { describe, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { UserCommand } from '#domain/users/commands.ts'
import type { Role } from '#domain/users/events.ts'
import { created, deleted, disabled, erased, given, roleChanged, sealed } from './facts.ts'

/** All commands of an admin on another user's account. */
const actionsOf = (actorRole: Role): readonly UserCommand[] => [
  { type: 'ChangeProfile', actorRole, displayName: sealed('new') },
  { type: 'ChangePassword', actorRole, passwordRef: 'ref-2' },
  { type: 'ChangeGroup', actorRole, group: 'vip' },
  { type: 'PromoteUser', actorRole },
  { type: 'DemoteUser', actorRole },
  { type: 'DisableUser', actorRole },
  { type: 'EnableUser', actorRole },
  { type: 'DeleteUser', actorRole },
  { type: 'VoidLogins', actorRole },
  { type: 'MayAct', actorRole },
]

describe('an admin action on an auditor, or on an account of the same or a higher level', () => {
  const levels: readonly (readonly [Role, Role])[] = [
    [1, 1],
    [1, 10],
    [5, 1],
    [5, 5],
    [10, 5],
    [10, 10],
    [10, 100],
    [1, 100],
  ]
  for (const [actor, target] of levels) {
    it.each(actionsOf(actor))(`is refused: level ${actor} on ${target}, $type`, (act) => {
      given(created(target)).when(act).then(codedError('RoleTooHigh'))
    })
  }
})

describe('the promotion of a user', () => {
  it('is allowed only to the super admin', () => {
    given(created(1))
      .when({ type: 'PromoteUser', actorRole: 10 })
      .then(codedError('OnlySuperAdminPromotes'))
    given(created(1))
      .when({ type: 'PromoteUser', actorRole: 100 })
      .then([roleChanged(10)])
  })

  it('makes no user more than an admin', () => {
    given(created(10)).when({ type: 'PromoteUser', actorRole: 100 }).then([])
    given(created(100)).when({ type: 'PromoteUser', actorRole: 100 }).then([])
  })
})

describe('the demotion of an admin', () => {
  it('makes the admin a user, once, and ends the sessions', () => {
    const demote = { type: 'DemoteUser', actorRole: 100 } as const
    given(created(10))
      .when(demote)
      .then([roleChanged(1)])
    given(created(10), roleChanged(1)).when(demote).then([])
  })
})

describe('the super admin', () => {
  it.each([
    { type: 'DemoteUser', actorRole: 100 },
    { type: 'DisableUser', actorRole: 100 },
    { type: 'DeleteUser', actorRole: 100 },
    { type: 'DeleteUser', actorRole: null },
  ] as const)('is protected from $type', (act) => {
    given(created(100)).when(act).then(codedError('SuperAdminProtected'))
  })
})

describe('a user that does not exist', () => {
  it.each(actionsOf(100))('is reported as unknown by $type', (act) => {
    given().when(act).then(codedError('UserUnknown'))
    given(created(), deleted()).when(act).then(codedError('UserUnknown'))
  })

  it('is the result of a deletion, which ends all sessions, even of disabled users', () => {
    const act = { type: 'DeleteUser', actorRole: 10 } as const
    given(created()).when(act).then([deleted()])
    given(created(), disabled())
      .when(act)
      .then([deleted(3)])
    given(created())
      .when({ ...act, actorRole: null })
      .then([deleted()])
  })
})

describe('the erasure of a user', () => {
  const erase = { type: 'EraseUser', actorRole: 100 } as const

  it('also deletes the account, and a repeat changes nothing', () => {
    given(created()).when(erase).then([deleted(), erased])
    given(created(10), disabled())
      .when(erase)
      .then([deleted(3), erased])
    given(created(), deleted()).when(erase).then([erased])
    given(created(), deleted(), erased).when(erase).then([])
  })

  it('is allowed only to the super admin, and is refused for a super admin', () => {
    given(created())
      .when({ ...erase, actorRole: 10 })
      .then(codedError('OnlySuperAdminErases'))
    given(created(100)).when(erase).then(codedError('SuperAdminProtected'))
    given().when(erase).then(codedError('UserUnknown'))
  })
})
