import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { ReportDispute, ReportRefund, TopUpCommand } from '#domain/top-ups/commands.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import type { TopUpEvent } from '#domain/top-ups/events.ts'
import type { TopUpState } from '#domain/top-ups/state.ts'
import { orderedTopUp } from './facts.ts'

const note = 'sealed:why' as Sealed
const common = { note, currency: 'USD', changesBefore: 0 }
const QUOTA = 5_000_001
const MONEY = 1_000n

const ordered = orderedTopUp({
  ...{ provider: 'stripe', method: 'stripe', merchant: '' },
  ...{ amount: 10, quota: QUOTA, money: '10.00', currency: 'USD' },
})
const data = { orderId: 1, userId: 7, paymentId: 'pi_1', rebate: null }
const paid: TopUpEvent = { type: 'TopUpPaid', v: 1, data }

const refund = (refundId: string, cents: bigint, status = 'succeeded'): ReportRefund => ({
  ...{ type: 'ReportRefund', ...common, refundId, isTotal: false, cents, status, reason: '' },
})
const total = (cents: bigint): ReportRefund => ({ ...refund('ch_1', cents), isTotal: true })
const dispute = (over: Partial<ReportDispute> = {}): ReportDispute => ({
  type: 'ReportDispute',
  ...common,
  disputeId: 'dp_1',
  cents: MONEY,
  status: 'needs_response',
  reason: 'fraudulent',
  dueBy: 1_800_000_000,
  funds: null,
  statedAt: 100,
  ...over,
})
const record = (cents: bigint): TopUpCommand => ({
  ...{ type: 'RefundTopUp', cents, refundsBefore: 0, reason: note },
})

const fold = (state: TopUpState, events: readonly TopUpEvent[]): TopUpState =>
  events.reduce((folded, event) => topUpDecider.evolve(folded, event), state)

/** Returns the state after these commands, each of which is decided on the previous state. */
function after(...commands: readonly TopUpCommand[]): TopUpState {
  let state = fold(topUpDecider.initialState(), [ordered, paid])
  for (const command of commands) {
    const seen = { changesBefore: state.changes, refundsBefore: state.refunds }
    const outcome = topUpDecider.decide({ ...command, ...seen } as TopUpCommand, state)
    if ('code' in outcome) throw new Error(outcome.code)
    state = fold(state, outcome)
  }
  return state
}
const refunded = (...commands: readonly TopUpCommand[]) => after(...commands).refundedCents

describe('the refunds that the provider reports', () => {
  it.each<[string, bigint, readonly TopUpCommand[]]>([
    ['a partial refund', 300n, [refund('re_1', 300n)]],
    [
      'a repeated report and a later status',
      300n,
      [...[refund('re_1', 300n, 'pending'), refund('re_1', 300n), refund('re_1', 300n, 'pending')]],
    ],
    ['two partial refunds', 500n, [refund('re_1', 300n), refund('re_2', 200n)]],
    ['refunds above the paid amount', MONEY, [refund('re_1', 700n), refund('re_2', 700n)]],
    [
      'the charge’s total before its refunds',
      500n,
      [...[total(300n), refund('re_1', 300n), total(500n), refund('re_2', 200n)]],
    ],
    [
      'the refunds before the charge’s total',
      500n,
      [...[refund('re_2', 200n), refund('re_1', 300n), total(500n), total(300n)]],
    ],
    ['the charge’s total alone', 500n, [total(300n), total(500n), total(300n)]],
    [
      'a failed refund beside another',
      200n,
      [...[refund('re_1', 300n), refund('re_2', 200n), refund('re_1', 300n, 'failed')]],
    ],
    [
      'a failed refund whose creation is reported later',
      0n,
      [...[refund('re_1', 300n, 'failed'), refund('re_1', 300n, 'pending')]],
    ],
    [
      'a refund that failed after the charge’s total',
      0n,
      [...[total(300n), refund('re_1', 300n), refund('re_1', 300n, 'failed')]],
    ],
    ['a refund that waits for the customer', 0n, [refund('re_1', 300n, 'requires_action')]],
    ['a refund that an admin had recorded', 300n, [record(300n), refund('re_1', 300n)]],
    ['a refund above what an admin had recorded', 500n, [record(300n), refund('re_1', 500n)]],
    [
      'a failed refund that an admin had recorded',
      300n,
      [...[record(300n), refund('re_1', 300n), refund('re_1', 300n, 'failed')]],
    ],
    [
      'an admin’s refund that failed and was retried',
      300n,
      [
        ...[
          record(300n),
          refund('re_1', 300n),
          refund('re_1', 300n, 'failed'),
          refund('re_2', 300n),
        ],
      ],
    ],
    ['a refund before an admin records another', 500n, [refund('re_1', 300n), record(200n)]],
  ])('%s: %s cents count as refunded', (_what, cents, commands) => {
    expect(refunded(...commands)).toBe(cents)
  })

  it('are refused if the order has changed meanwhile or the currency differs', () => {
    const state = after(refund('re_1', 300n))
    expect(topUpDecider.decide(refund('re_2', 1n), state)).toEqual(codedError('RefundedMeanwhile'))
    expect(topUpDecider.decide(refund('re_1', 300n), state)).toEqual([])
    const details = { field: 'currency' }
    const other = { ...refund('re_2', 1n), currency: 'EUR' }
    expect(topUpDecider.decide(other, state)).toEqual(codedError('TopUpMismatch', details))
  })

  it('are refused for an unpaid order', () => {
    const state = fold(topUpDecider.initialState(), [ordered])
    expect(topUpDecider.decide(refund('re_1', 1n), state)).toEqual(codedError('TopUpNotPaid'))
  })
})

describe('a dispute that the provider reports', () => {
  const withdrawn = dispute({ funds: 'withdrawn' })
  const lost = dispute({ status: 'lost', statedAt: 200 })
  const won = dispute({ status: 'won', statedAt: 200 })
  const reinstated = dispute({ status: 'won', funds: 'reinstated', statedAt: 201 })

  it.each<[string, bigint, readonly TopUpCommand[]]>([
    ['an open dispute', 0n, [dispute()]],
    ['a dispute with withdrawn money', MONEY, [dispute(), withdrawn]],
    ['a lost dispute', MONEY, [dispute(), lost]],
    [
      'a lost dispute with withdrawn money, reported twice',
      MONEY,
      [withdrawn, dispute(), lost, lost, withdrawn],
    ],
    [
      'a dispute that is won after the money was withdrawn',
      0n,
      [dispute(), withdrawn, won, reinstated],
    ],
    ['a won dispute before older reports', 0n, [won, dispute(), withdrawn]],
    ['reinstated money before older reports', 0n, [reinstated, withdrawn, dispute()]],
    ['a dispute about a part of the payment', 400n, [dispute({ cents: 400n, funds: 'withdrawn' })]],
    ['a lost dispute after a partial refund', MONEY, [refund('re_1', 300n), lost]],
    [
      'a lost dispute with reinstated money after a refund',
      MONEY,
      [
        ...[
          refund('re_1', 300n),
          lost,
          dispute({ status: 'lost', funds: 'reinstated', statedAt: 3 }),
        ],
      ],
    ],
    ['a won dispute after a partial refund', 300n, [refund('re_1', 300n), withdrawn, won]],
    [
      'a dispute that an admin had recorded as a refund',
      400n,
      [...[record(400n), dispute({ cents: 400n, funds: 'withdrawn' })]],
    ],
    [
      'a lost dispute with an open report of the same second',
      MONEY,
      [...[dispute({ status: 'lost' }), dispute({ status: 'under_review' })]],
    ],
  ])('%s: %s cents count as refunded', (_what, cents, commands) => {
    expect(refunded(...commands)).toBe(cents)
  })
})

it('the refunded quota matches the refunded money after reports in any order', () => {
  const statuses = fc.constantFrom('pending', 'succeeded', 'failed', 'canceled')
  const ids = fc.constantFrom('re_1', 're_2', 're_3')
  const cents = fc.bigInt({ min: 0n, max: 700n })
  const funds = fc.constantFrom('withdrawn' as const, 'reinstated' as const, null)
  const words = fc.constantFrom('needs_response', 'lost', 'won')
  const statedAt = fc.integer({ min: 0, max: 5 })
  const command = fc.oneof(
    fc.tuple(ids, cents, statuses).map(([id, sum, status]) => refund(id, sum, status)),
    cents.map(total),
    fc.record({ cents, funds, status: words, statedAt }).map(dispute),
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
      const state = after(...commands)
      expect(state.refundedCents >= 0n && state.refundedCents <= MONEY).toBe(true)
      expect(state.refundedQuota).toBe((BigInt(QUOTA) * state.refundedCents) / MONEY)
      expect(after(...commands, ...commands.slice(-1)).changes).toBe(state.changes)
    }),
  )
})
