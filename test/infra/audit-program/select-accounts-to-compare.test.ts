import { describe, expect, it } from 'vitest'
import { selectAccountsToCompare } from '#infra/audit-program/compare-account-rows.ts'
import { nextBatch } from '#projections/runner/verify-account-rows.ts'

/** The last revisions of the streams of accounts, which have `events` events each. */
const revisionsOf = (count: number, events = 10) =>
  new Map(Array.from({ length: count }, (_, index) => [`account-${index + 1}`, events - 1]))
const NONE: ReadonlySet<string> = new Set()

function select(...args: Parameters<typeof selectAccountsToCompare>) {
  const { accounts, nextAccount } = selectAccountsToCompare(...args)
  return { userIds: accounts.map(({ userId }) => userId), nextAccount }
}

describe('the accounts that an incremental verification compares', () => {
  it('are all accounts of a small site, and no other streams', () => {
    const revisions = new Map([...revisionsOf(3), ['site', 5], ['account-x', 1]])
    expect(select(revisions, NONE, 2)).toEqual({
      ...{ userIds: [1, 2, 3], nextAccount: 0 },
    })
  })

  it('are each account within six verifications, also if accounts are added meanwhile', () => {
    const compared = new Set<number>()
    let nextAccount = 0
    for (let night = 0; night < 6; night += 1) {
      const revisions = revisionsOf(20_000 + night * 500, 100)
      const selection = select(revisions, NONE, nextAccount)
      expect(selection.userIds.length).toBeLessThan(4_000)
      for (const userId of selection.userIds) compared.add(userId)
      nextAccount = selection.nextAccount
    }
    const missing = [...revisionsOf(20_000).keys()].filter((_, index) => !compared.has(index + 1))
    expect(missing).toEqual([])
  })

  it('have a sixth of all events, and one account more at most', () => {
    // Few accounts with many events: the number of accounts says little about the work of a night.
    const revisions = revisionsOf(30, 1_000_000)
    const compared: number[] = []
    let nextAccount = 0
    for (let night = 0; night < 6; night += 1) {
      const selection = select(revisions, NONE, nextAccount)
      expect(selection.userIds).toHaveLength(5)
      compared.push(...selection.userIds)
      nextAccount = selection.nextAccount
    }
    expect([new Set(compared).size, nextAccount]).toEqual([30, 0])
    expect(select(new Map([['account-7', 50_000_000]]), NONE, 0)).toEqual({
      ...{ userIds: [7], nextAccount: 0 },
    })
  })

  it('are copied in batches of a bounded number of events, of one account at least', () => {
    const account = (userId: number, events: number) => ({ userId, events })
    const accounts = [account(1, 60_000), account(2, 40_000), account(3, 1), account(4, 900_000)]
    expect(nextBatch(accounts, 0)).toEqual([1, 2])
    expect(nextBatch(accounts, 2)).toEqual([3])
    expect(nextBatch(accounts, 3)).toEqual([4])
    const small = Array.from({ length: 600 }, (_, index) => account(index + 1, 10))
    expect([nextBatch(small, 0).length, nextBatch(small, 500).length]).toEqual([500, 100])
  })

  it('begin again after the last account, also if accounts have disappeared', () => {
    const { nextAccount } = select(revisionsOf(9_000), NONE, 8_500)
    expect(nextAccount).toBe(0)
    const { userIds } = select(revisionsOf(8_000), NONE, 8_500)
    expect(userIds[0]).toBe(1)
  })

  it('include those with new events, as far as a bounded number of events allows', () => {
    const revisions = revisionsOf(9_000, 100)
    revisions.set('account-8000', 1_999_980)
    revisions.set('account-8001', 150)
    const touched = new Set(['account-8000', 'account-8001', 'account-8002', 'account-5'])
    const { userIds } = select(revisions, touched, 0)
    expect(userIds.slice(-2)).toEqual([8_002, 8_001])
    expect(userIds.filter((userId) => userId === 5)).toHaveLength(1)
    expect(userIds).not.toContain(8_000)
  })
})
