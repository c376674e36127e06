import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { PayTopUp } from '#domain/top-ups/commands.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import type { TopUpEvent, TopUpPaid } from '#domain/top-ups/events.ts'
import { centsOf, moneyText, priceCents, quotaOfDollars, shareOf } from '#domain/top-ups/money.ts'
import { specificationOf } from '#test/support/given-when-then.ts'
import { orderedTopUp } from './facts.ts'

const { given } = specificationOf(topUpDecider)
const reason = 'sealed:why' as Sealed

const ordered = orderedTopUp()
const pay: PayTopUp = {
  type: 'PayTopUp',
  tradeNo: ordered.data.tradeNo,
  provider: 'epay',
  merchant: '1001',
  currency: 'CNY',
  cents: 730n,
  paymentId: 'p-1',
  rebate: null,
}
const paid: TopUpPaid = {
  type: 'TopUpPaid',
  v: 1,
  data: { orderId: 1, userId: 7, paymentId: 'p-1', rebate: null },
}

describe('a top-up order', () => {
  it('is paid by a payment that matches all of its fields', () =>
    given(ordered).when(pay).then([paid]))

  it.each([
    ['provider', { provider: 'stripe' }],
    ['merchant', { merchant: '1002' }],
    ['currency', { currency: 'USD' }],
    ['money', { cents: 729n }],
    ['money', { cents: 731n }],
  ] as const)('is not paid if the payment has another %s', (field, said) => {
    given(ordered)
      .when({ ...pay, ...said } as PayTopUp)
      .then(codedError('TopUpMismatch', { field }))
  })

  it('is unknown by another trade number, and before it is created', () => {
    const other = { ...pay, tradeNo: 'T1X0123456789ABCDEF01234568' }
    given(ordered).when(other).then(codedError('TopUpUnknown'))
    given().when(pay).then(codedError('TopUpUnknown'))
  })

  it('is paid once; a second payment is refused, so it is not credited again', () => {
    const details = { paymentId: 'p-1' }
    given(ordered, paid).when(pay).then(codedError('TopUpPaidAlready', details))
    const again = { ...pay, paymentId: 'p-2' }
    given(ordered, paid).when(again).then(codedError('TopUpPaidAlready', details))
  })

  it('can be refunded in parts up to the whole amount, and not beyond', () => {
    const events: TopUpEvent[] = [ordered, paid]
    for (const [n, cents] of [101n, 314n, 315n].entries()) {
      const step = given(...events).when({ type: 'RefundTopUp', cents, refundsBefore: n, reason })
      expect(step.facts).toHaveLength(1)
      events.push(...step.facts)
    }
    const { state } = given(...events)
    expect(state).toMatchObject({ refunds: 3, refundedCents: 730n, refundedQuota: 500_000n })
    given(...events)
      .when({ type: 'RefundTopUp', cents: 1n, refundsBefore: 3, reason })
      .then(codedError('RefundOutOfRange', { left: '0.00' }))
  })

  it('is refunded only if paid, by an amount in range, and if no other refund came between', () => {
    const refund = { type: 'RefundTopUp', cents: 731n, refundsBefore: 0, reason } as const
    const range = codedError('RefundOutOfRange', { left: '7.30' })
    given(ordered, paid).when(refund).then(range)
    given(ordered, paid)
      .when({ ...refund, cents: 0n })
      .then(range)
    given(ordered, paid)
      .when({ ...refund, cents: 1n, refundsBefore: 1 })
      .then(codedError('RefundedMeanwhile'))
    given(ordered).when(refund).then(codedError('TopUpNotPaid'))
    given().when(refund).then(codedError('TopUpUnknown'))
  })
})

describe('amounts of money', () => {
  it.each([
    ['7.3', 730n],
    ['7.30', 730n],
    ['7.300', 730n],
    ['0.07', 7n],
    ['7', 700n],
    ['7.301', null],
    ['-7', null],
    ['7,30', null],
    ['7e2', null],
    ['', null],
    [' 7', null],
  ])('%j has the value of %s cents', (text, cents) => expect(centsOf(text)).toBe(cents))

  it('are exact: prices are rounded once, and shares are rounded down', () => {
    // As floating-point numbers, 0.1 × 3 is not 0.3, and 1.005 × 100 is not 100.5.
    expect(priceCents(1, '1.005', '1')).toBe(101n)
    expect(priceCents(3, '0.1', '1')).toBe(30n)
    expect(priceCents(1, '7.3', '0.95')).toBe(694n)
    expect(moneyText(7n)).toBe('0.07')
    expect(quotaOfDollars(3, '500000')).toBe(1_500_000n)
    expect(quotaOfDollars(1, '0.5')).toBe(1n)
    expect(shareOf(333n, '10')).toBe(33n)
    expect(shareOf(1_000_000n, '12.5')).toBe(125_000n)
    expect(shareOf(9n, '0')).toBe(0n)
  })
})
