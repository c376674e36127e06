import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { ReportDispute, ReportRefund, TopUpCommand } from '#domain/top-up/commands.ts'
import { topUpDecider } from '#domain/top-up/decide.ts'
import type { TopUpEvent } from '#domain/top-up/events.ts'
import type { TopUpState } from '#domain/top-up/state.ts'
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

/** The state after these, each decided on what was there. */
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

describe('refunds that the provider reports', () => {
  it.each<[string, bigint, readonly TopUpCommand[]]>([
    ['a part', 300n, [refund('re_1', 300n)]],
    [
      'the same one again and its later status',
      300n,
      [...[refund('re_1', 300n, 'pending'), refund('re_1', 300n), refund('re_1', 300n, 'pending')]],
    ],
    ['two parts', 500n, [refund('re_1', 300n), refund('re_2', 200n)]],
    ['more than was paid', MONEY, [refund('re_1', 700n), refund('re_2', 700n)]],
    [
      'the charge’s sum before its refunds',
      500n,
      [...[total(300n), refund('re_1', 300n), total(500n), refund('re_2', 200n)]],
    ],
    [
      'the refunds before the charge’s sum',
      500n,
      [...[refund('re_2', 200n), refund('re_1', 300n), total(500n), total(300n)]],
    ],
    ['the charge’s sum alone', 500n, [total(300n), total(500n), total(300n)]],
    [
      'one that failed',
      200n,
      [...[refund('re_1', 300n), refund('re_2', 200n), refund('re_1', 300n, 'failed')]],
    ],
    [
      'one that failed before it was created, and after',
      0n,
      [...[refund('re_1', 300n, 'failed'), refund('re_1', 300n, 'pending')]],
    ],
    [
      'one that failed after the charge’s sum',
      0n,
      [...[total(300n), refund('re_1', 300n), refund('re_1', 300n, 'failed')]],
    ],
    ['one that waits for the customer', 0n, [refund('re_1', 300n, 'requires_action')]],
    ['one that an admin had recorded', 300n, [record(300n), refund('re_1', 300n)]],
    ['more than an admin had recorded', 500n, [record(300n), refund('re_1', 500n)]],
    [
      'one that an admin had recorded, which failed',
      300n,
      [...[record(300n), refund('re_1', 300n), refund('re_1', 300n, 'failed')]],
    ],
    [
      'that failed, tried again at the provider',
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
    ['one before an admin records another', 500n, [refund('re_1', 300n), record(200n)]],
  ])('%s: %s hundredths are taken back', (_what, cents, commands) => {
    expect(refunded(...commands)).toBe(cents)
  })

  it('are decided on what was seen, or refused, in another currency too', () => {
    const state = after(refund('re_1', 300n))
    expect(topUpDecider.decide(refund('re_2', 1n), state)).toEqual(codedError('RefundedMeanwhile'))
    expect(topUpDecider.decide(refund('re_1', 300n), state)).toEqual([])
    const details = { field: 'currency' }
    const other = { ...refund('re_2', 1n), currency: 'EUR' }
    expect(topUpDecider.decide(other, state)).toEqual(codedError('TopUpMismatch', details))
  })

  it('of an order that is not paid are refused', () => {
    const state = fold(topUpDecider.initialState(), [ordered])
    expect(topUpDecider.decide(refund('re_1', 1n), state)).toEqual(codedError('TopUpNotPaid'))
  })
})

describe('a dispute', () => {
  const withdrawn = dispute({ funds: 'withdrawn' })
  const lost = dispute({ status: 'lost', statedAt: 200 })
  const won = dispute({ status: 'won', statedAt: 200 })
  const reinstated = dispute({ status: 'won', funds: 'reinstated', statedAt: 201 })

  it.each<[string, bigint, readonly TopUpCommand[]]>([
    ['takes nothing by itself', 0n, [dispute()]],
    ['takes when the money is withdrawn', MONEY, [dispute(), withdrawn]],
    ['takes when it is lost', MONEY, [dispute(), lost]],
    ['takes once when both', MONEY, [withdrawn, dispute(), lost, lost, withdrawn]],
    ['restores when it is won', 0n, [dispute(), withdrawn, won, reinstated]],
    ['that was won takes nothing by older words', 0n, [won, dispute(), withdrawn]],
    ['that was reinstated takes nothing by older words', 0n, [reinstated, withdrawn, dispute()]],
    ['a part', 400n, [dispute({ cents: 400n, funds: 'withdrawn' })]],
    ['after a refund takes what is left', MONEY, [refund('re_1', 300n), lost]],
    [
      'that is lost keeps what is returned of a refund',
      MONEY,
      [
        ...[
          refund('re_1', 300n),
          lost,
          dispute({ status: 'lost', funds: 'reinstated', statedAt: 3 }),
        ],
      ],
    ],
    ['that was won leaves the refund', 300n, [refund('re_1', 300n), withdrawn, won]],
    [
      'that an admin had recorded takes nothing more',
      400n,
      [...[record(400n), dispute({ cents: 400n, funds: 'withdrawn' })]],
    ],
    [
      'of one second: the decision counts',
      MONEY,
      [...[dispute({ status: 'lost' }), dispute({ status: 'under_review' })]],
    ],
  ])('%s: %s hundredths are taken back', (_what, cents, commands) => {
    expect(refunded(...commands)).toBe(cents)
  })
})

it('whatever is reported, in any order and repeatedly, quota follows the money to the unit', () => {
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
