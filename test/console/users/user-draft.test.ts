import { describe, expect, it } from 'vitest'
import {
  changedSelf,
  changedUser,
  createdUser,
  draftOfUser,
  newUser,
  quotaOfText,
  userFaults,
} from '#console/features/users/form/user-draft.ts'
import { user } from '../support/user-routes.ts'

const before = draftOfUser(user({ quota: 500, group: 'default', display_name: 'Mia' }))

describe('a user’s form', () => {
  it('wants a name and a password of a new user', () => {
    expect(userFaults('new', newUser(), newUser())).toEqual({
      username: 'bothMissing',
      password: 'bothMissing',
    })
    const short = { ...newUser(), username: 'a', password: '1234567' }
    expect(userFaults('new', newUser(), short)).toEqual({ password: 'passwordShort' })
    const long = { ...short, username: 'thirteenchars', password: 'x'.repeat(21) }
    const both = { username: 'nameLong', password: 'passwordLong' }
    expect(userFaults('new', newUser(), long)).toEqual(both)
    const whole = { ...short, username: ' a ', password: '12345678', displayName: ' A ' }
    expect(userFaults('new', newUser(), whole)).toEqual({})
    const sent = { username: 'a', password: '12345678', display_name: 'A' }
    expect(createdUser(whole)).toEqual(sent)
  })

  it('takes whole numbers of quota that the wire can carry, and none below 0', () => {
    const of = (quota: string) =>
      userFaults('other', before, { ...before, quota, reason: 'why' }).quota
    expect(['500', '0', ' 7 '].map(of)).toEqual([undefined, undefined, undefined])
    expect(['', '1.5', 'x', '9007199254740992'].map(of)).toEqual(Array(4).fill('quotaWrong'))
    expect(of('-1')).toBe('quotaTooLow')
    expect(quotaOfText('9007199254740991')).toBe(9_007_199_254_740_991n)
  })

  it('wants to know why group or quota change', () => {
    for (const change of [{ group: 'vip' }, { quota: '501', reason: ' ' }]) {
      const after = { ...before, ...change }
      expect(userFaults('other', before, after)).toEqual({ reason: 'reasonMissing' })
    }
  })

  it('leaves a debt alone that was there before', () => {
    const owing = draftOfUser(user({ quota: -350 }))
    expect(userFaults('other', owing, { ...owing, displayName: 'N' })).toEqual({})
    expect(changedUser(owing, { ...owing, displayName: 'N' })).toEqual({ display_name: 'N' })
  })

  it('sends what changed alone, and a reason with a change of quota or group alone', () => {
    expect(changedUser(before, before)).toEqual({})
    expect(changedUser(before, { ...before, reason: 'why' })).toEqual({})
    const after = { ...before, quota: '700', reason: ' why ', group: 'vip', password: 'p' }
    expect(changedUser(before, after)).toEqual({
      ...{ quota: 700, reason: 'why', group: 'vip', password: 'p' },
    })
  })

  it('of oneself never sends group or quota, and wants the current password', () => {
    const after = { ...before, quota: '9', group: 'vip', password: 'new password' }
    expect(userFaults('self', before, after)).toEqual({ originalPassword: 'originalMissing' })
    expect(changedSelf(before, { ...after, originalPassword: 'old' })).toEqual({
      password: 'new password',
      original_password: 'old',
    })
  })

  it('sets a first password without a current one, or by a code where one is asked for', () => {
    const first = draftOfUser(user({ has_password: false }))
    const after = { ...first, password: 'new password' }
    expect(userFaults('self', first, after)).toEqual({})
    expect(changedSelf(first, after)).toEqual({ password: 'new password' })
    const byCode = { ...after, proof: 'code' as const }
    expect(userFaults('self', first, byCode)).toEqual({ originalPassword: 'codeMissing' })
    expect(changedSelf(first, { ...byCode, originalPassword: ' 123456 ' })).toEqual({
      password: 'new password',
      code: '123456',
    })
  })
})
