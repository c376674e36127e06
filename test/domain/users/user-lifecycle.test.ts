import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { DEFAULT_SETTINGS, type UserEvent } from '#domain/users/events.ts'
import {
  created,
  createUser,
  deleted,
  disabled,
  enabled,
  given,
  passwordChanged,
  roleChanged,
  sealed,
} from './facts.ts'

describe('the creation of a user', () => {
  it.each([1, 10, 100] as const)('records level %s, with encrypted names', (role) => {
    given()
      .when(createUser(role))
      .then([created(role)])
  })

  it('changes nothing if repeated with the same password, and is refused with another', () => {
    given(created()).when(createUser()).then([])
    const other = { ...createUser(), passwordRef: 'ref-2' }
    given(created()).when(other).then(codedError('UserExists'))
    given(created(), deleted()).when(other).then(codedError('UserExists'))
  })
})

describe('the version of a user’s logins', () => {
  it('increases by one with each new password, new level, disabling and deletion', () => {
    const facts = [created(), passwordChanged('ref-2', 2), roleChanged(10, 3), disabled(4)]
    expect(given(...facts).state.user?.authVersion).toBe(4)
    given(...facts, enabled)
      .when({ type: 'DisableUser', actorRole: 100 })
      .then([disabled(5)])
    given(...facts)
      .when({ type: 'DeleteUser', actorRole: 100 })
      .then([deleted(5)])
  })

  it('does not increase when the user is enabled', () => {
    const facts = [created(), disabled(2), enabled]
    expect(given(...facts).state.user?.authVersion).toBe(2)
  })
})

describe('the commands to disable and enable a user', () => {
  it('record each change once', () => {
    given(created()).when({ type: 'DisableUser', actorRole: 10 }).then([disabled()])
    given(created(), disabled()).when({ type: 'DisableUser', actorRole: 10 }).then([])
    given(created(), disabled()).when({ type: 'EnableUser', actorRole: 10 }).then([enabled])
    given(created()).when({ type: 'EnableUser', actorRole: 10 }).then([])
  })
})

describe('a user’s own account', () => {
  const displayName = sealed('new')
  const renamed: UserEvent = {
    type: 'UserProfileChanged',
    v: 1,
    data: { userId: 7, displayName },
  }

  it.each([1, 10, 100] as const)('can be renamed by its owner at level %s', (role) => {
    const rename = { type: 'ChangeProfile', actorRole: null, displayName } as const
    given(created(role)).when(rename).then([renamed])
    given(created(role), renamed).when(rename).then([])
    given(created(role)).when({ type: 'ChangeProfile', actorRole: null }).then([])
  })

  it('gets a new password, and a repeat changes nothing', () => {
    const change = { type: 'ChangePassword', actorRole: null, passwordRef: 'ref-2' } as const
    given(created())
      .when(change)
      .then([passwordChanged('ref-2')])
    given(created(), passwordChanged('ref-2')).when(change).then([])
  })

  it('stores new settings, and the same settings again change nothing', () => {
    const settings = { ...DEFAULT_SETTINGS, acceptUnsetModelRatioModel: true }
    const change = { type: 'ChangeSettings', settings } as const
    const changed: UserEvent = { type: 'UserSettingsChanged', v: 1, data: { userId: 7, settings } }
    given(created()).when(change).then([changed])
    given(created(), changed).when(change).then([])
    given(created()).when({ type: 'ChangeSettings', settings: DEFAULT_SETTINGS }).then([])
    given(created(), deleted()).when(change).then(codedError('UserUnknown'))
  })

  it('uses the default of each setting that an older event lacks', () => {
    const older: UserEvent = {
      type: 'UserSettingsChanged',
      v: 1,
      data: { userId: 7, settings: {} },
    }
    given(created(), older).when({ type: 'ChangeSettings', settings: DEFAULT_SETTINGS }).then([])
  })
})

describe('a user’s group', () => {
  it('is changed by an admin, and a repeat changes nothing', () => {
    const change = { type: 'ChangeGroup', actorRole: 10, group: 'vip' } as const
    const changed: UserEvent = { type: 'UserGroupChanged', v: 1, data: { userId: 7, group: 'vip' } }
    given(created()).when(change).then([changed])
    given(created(), changed).when(change).then([])
  })
})
