import { describe, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { UserCommand } from '#domain/user/commands.ts'
import type { Role } from '#domain/user/events.ts'
import { created, deleted, disabled, erased, given, roleChanged, sealed } from './facts.ts'

/** Every command of an admin on another user's account. */
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

describe('an account of the actor’s own level or above', () => {
  const levels: readonly (readonly [Role, Role])[] = [
    [1, 1],
    [1, 10],
    [10, 10],
    [10, 100],
    [1, 100],
  ]
  for (const [actor, target] of levels) {
    it.each(actionsOf(actor))(`is out of reach: level ${actor} on ${target}, $type`, (act) => {
      given(created(target)).when(act).then(codedError('RoleTooHigh'))
    })
  }
})

describe('promoting', () => {
  it('is the super admin’s alone', () => {
    given(created(1))
      .when({ type: 'PromoteUser', actorRole: 10 })
      .then(codedError('OnlySuperAdminPromotes'))
    given(created(1))
      .when({ type: 'PromoteUser', actorRole: 100 })
      .then([roleChanged(10)])
  })

  it('goes no further than admin', () => {
    given(created(10)).when({ type: 'PromoteUser', actorRole: 100 }).then([])
    given(created(100)).when({ type: 'PromoteUser', actorRole: 100 }).then([])
  })
})

describe('demoting', () => {
  it('makes an admin a user, once, and voids the sessions', () => {
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
  ] as const)('can’t be undone by $type', (act) => {
    given(created(100)).when(act).then(codedError('SuperAdminProtected'))
  })
})

describe('a user that is none', () => {
  it.each(actionsOf(100))('is unknown to $type', (act) => {
    given().when(act).then(codedError('UserUnknown'))
    given(created(), deleted()).when(act).then(codedError('UserUnknown'))
  })

  it('was deleted once, with every session; switched off before or not', () => {
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

describe('erasing', () => {
  const erase = { type: 'EraseUser', actorRole: 100 } as const

  it('deactivates too, once, whatever the user was before', () => {
    given(created()).when(erase).then([deleted(), erased])
    given(created(10), disabled())
      .when(erase)
      .then([deleted(3), erased])
    given(created(), deleted()).when(erase).then([erased])
    given(created(), deleted(), erased).when(erase).then([])
  })

  it('is the super admin’s alone, and never of one', () => {
    given(created())
      .when({ ...erase, actorRole: 10 })
      .then(codedError('OnlySuperAdminErases'))
    given(created(100)).when(erase).then(codedError('SuperAdminProtected'))
    given().when(erase).then(codedError('UserUnknown'))
  })
})
