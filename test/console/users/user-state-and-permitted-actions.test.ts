import { describe, expect, it } from 'vitest'
import {
  permittedActions,
  stateOf,
} from '#console/features/users/user-state-and-permitted-actions.ts'
import { user } from '../support/user-routes.ts'

const allowedActions = (target: Parameters<typeof user>[0], role: number) =>
  [...permittedActions(user(target), { id: 99, role })].sort()
const GONE = '2026-01-01T00:00:00.000Z'

describe('the actions that an admin may use', () => {
  it('are none on other admins and on the super admin', () => {
    expect(allowedActions({ role: 10 }, 10)).toEqual([])
    expect(allowedActions({ role: 100 }, 10)).toEqual([])
  })

  it('are all on users except for promotion and erasure', () => {
    expect(allowedActions({ role: 1 }, 10)).toEqual([
      'adjust',
      'delete',
      'disable',
      'edit',
      'resetSecondFactor',
    ])
    const banned = ['adjust', 'delete', 'edit', 'enable', 'resetSecondFactor']
    expect(allowedActions({ role: 1, status: 2 }, 10)).toEqual(banned)
  })

  it('include promotion, demotion and erasure for the super admin', () => {
    const both = ['adjust', 'delete', 'disable', 'edit', 'erase', 'resetSecondFactor']
    const ofUser = [...both, 'appoint_auditor', 'promote']
    expect(allowedActions({ role: 1 }, 100)).toEqual(ofUser.sort())
    expect(allowedActions({ role: 10 }, 100)).toEqual([...both, 'demote'].sort())
  })

  it('on auditors are only for the super admin', () => {
    const offered = ['adjust', 'delete', 'demote', 'disable', 'edit', 'erase', 'promote']
    expect(allowedActions({ role: 5 }, 10)).toEqual([])
    expect(allowedActions({ role: 5 }, 100)).toEqual([...offered, 'resetSecondFactor'])
  })

  it('never remove a super admin, not even the same one', () => {
    expect(allowedActions({ role: 100 }, 100)).toEqual(['adjust', 'edit'])
  })

  it('do not include enabling a user of status 3', () => {
    const offered = ['adjust', 'delete', 'edit', 'erase', 'promote', 'resetSecondFactor']
    const all = ['appoint_auditor', ...offered].sort()
    expect(allowedActions({ role: 1, status: 3 }, 100)).toEqual(all)
    expect(stateOf(user({ status: 3 }))).toBe('locked')
  })

  it('on a deactivated user are only one erasure by the super admin', () => {
    expect(allowedActions({ role: 1, DeletedAt: GONE }, 10)).toEqual([])
    expect(allowedActions({ role: 1, DeletedAt: GONE }, 100)).toEqual(['erase'])
    expect(allowedActions({ role: 1, DeletedAt: GONE, is_erased: true }, 100)).toEqual([])
  })
})
