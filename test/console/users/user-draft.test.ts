import { describe, expect, it } from 'vitest'
import {
  createUserBody,
  draftOfUser,
  newUser,
  updateSelfBody,
  updateUserBody,
  validateUser,
} from '#console/features/users/form/user-draft.ts'
import { user } from '../support/user-routes.ts'

const before = draftOfUser(user({ quota: 500, group: 'default', display_name: 'Mia' }))

describe('the form of a user', () => {
  it('requires a name and a password for a new user', () => {
    expect(validateUser('new', newUser(), newUser())).toEqual({
      username: 'bothMissing',
      password: 'bothMissing',
    })
    const short = { ...newUser(), username: 'a', password: '1234567' }
    expect(validateUser('new', newUser(), short)).toEqual({ password: 'passwordTooShort' })
    const long = { ...short, username: 'thirteenchars', password: 'x'.repeat(129) }
    const both = { username: 'nameLong', password: 'passwordTooLong' }
    expect(validateUser('new', newUser(), long)).toEqual(both)
    const whole = { ...short, username: ' a ', password: '12345678', displayName: ' A ' }
    expect(validateUser('new', newUser(), whole)).toEqual({})
    const sent = { username: 'a', password: '12345678', display_name: 'A' }
    expect(createUserBody(whole)).toEqual(sent)
  })

  it('requires a reason for a change of group', () => {
    const after = { ...before, group: 'vip', reason: ' ' }
    expect(validateUser('existing', before, after)).toEqual({ reason: 'reasonMissing' })
  })

  it('sends only what changed, never a balance, and a reason only for a new group', () => {
    expect(updateUserBody(before, before)).toEqual({})
    expect(updateUserBody(before, { ...before, reason: 'why' })).toEqual({})
    const after = { ...before, reason: ' why ', group: 'vip', password: 'p' }
    expect(updateUserBody(before, after)).toEqual({ reason: 'why', group: 'vip', password: 'p' })
  })

  it('never sends the group of the own account, and requires the current password', () => {
    const after = { ...before, group: 'vip', password: 'new password' }
    expect(validateUser('self', before, after)).toEqual({ originalPassword: 'originalMissing' })
    expect(updateSelfBody(before, { ...after, originalPassword: 'old' })).toEqual({
      password: 'new password',
      original_password: 'old',
    })
  })

  it('sets a first password without a current one, or with a code if required', () => {
    const first = draftOfUser(user({ has_password: false }))
    const after = { ...first, password: 'new password' }
    expect(validateUser('self', first, after)).toEqual({})
    expect(updateSelfBody(first, after)).toEqual({ password: 'new password' })
    const byCode = { ...after, proof: 'code' as const }
    expect(validateUser('self', first, byCode)).toEqual({ originalPassword: 'codeMissing' })
    expect(updateSelfBody(first, { ...byCode, originalPassword: ' 123456 ' })).toEqual({
      password: 'new password',
      code: '123456',
    })
  })
})
