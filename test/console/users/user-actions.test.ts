import { describe, expect, it } from 'vitest'
import { actionsOn, stateOf } from '#console/features/users/user-actions.ts'
import { user } from '../support/user-routes.ts'

const allowedActions = (target: Parameters<typeof user>[0], role: number) =>
  [...actionsOn(user(target), { id: 99, role })].sort()
const GONE = '2026-01-01T00:00:00.000Z'

describe('what an admin is offered', () => {
  it('is nothing of peers and of those above', () => {
    expect(allowedActions({ role: 10 }, 10)).toEqual([])
    expect(allowedActions({ role: 100 }, 10)).toEqual([])
  })

  it('is, of users, everything but promotion and erasure', () => {
    expect(allowedActions({ role: 1 }, 10)).toEqual([
      'adjust',
      'delete',
      'disable',
      'edit',
      'resetFactor',
    ])
    const banned = ['adjust', 'delete', 'edit', 'enable', 'resetFactor']
    expect(allowedActions({ role: 1, status: 2 }, 10)).toEqual(banned)
  })

  it('is, as super admin, promotion and demotion too', () => {
    const both = ['adjust', 'delete', 'disable', 'edit', 'erase', 'resetFactor']
    expect(allowedActions({ role: 1 }, 100)).toEqual([...both, 'promote'].sort())
    expect(allowedActions({ role: 10 }, 100)).toEqual([...both, 'demote'].sort())
  })

  it('never undoes a super admin, oneself included', () => {
    expect(allowedActions({ role: 100 }, 100)).toEqual(['adjust', 'edit'])
  })

  it('does not enable a user of status 3', () => {
    const offered = ['adjust', 'delete', 'edit', 'erase', 'promote', 'resetFactor']
    expect(allowedActions({ role: 1, status: 3 }, 100)).toEqual(offered)
    expect(stateOf(user({ status: 3 }))).toBe('locked')
  })

  it('of somebody deactivated is nothing but the super admin’s erasure, once', () => {
    expect(allowedActions({ role: 1, DeletedAt: GONE }, 10)).toEqual([])
    expect(allowedActions({ role: 1, DeletedAt: GONE }, 100)).toEqual(['erase'])
    expect(allowedActions({ role: 1, DeletedAt: GONE, is_erased: true }, 100)).toEqual([])
  })
})
