import { describe } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import type { TopUpOrdered, TopUpPaid } from '#domain/top-ups/events.ts'
import { deciderWithoutBalances } from '../accounts/facts.ts'
import { golden, story } from './story.ts'

const why = 'sealed:why' as Sealed
const order = (golden('top-up-ordered-v1') as TopUpOrdered).data
const { rebate } = (golden('top-up-paid-v1') as TopUpPaid).data
const refund = { orderId: 12, refundNo: 1 } as const
const account = {
  balance: 0,
  held: 0,
  admissions: 0,
  emptiedAt: 0,
  budgets: [],
  open: [],
  ended: { ids: [], forgottenUpTo: '' },
  grantIds: [],
  deductionIds: [],
  affiliate: 0,
  inviteeIds: [],
  transferIds: [],
  checkInDay: '',
}

describe('the events of top-ups, as first recorded', () => {
  story(
    'an order',
    topUpDecider,
    [
      ['top-up-ordered-v1', { type: 'PlaceTopUp', ...order }],
      [
        'top-up-paid-v1',
        {
          type: 'PayTopUp',
          tradeNo: order.tradeNo,
          provider: 'epay',
          merchant: '1001',
          currency: 'CNY',
          cents: 6_570n,
          paymentId: '2026112200001',
          rebate,
        },
      ],
      ['top-up-refunded-v1', { type: 'RefundTopUp', cents: 2_190n, refundsBefore: 0, reason: why }],
      [
        'top-up-refund-reported-v1',
        {
          type: 'ReportRefund',
          refundId: 're_1',
          isTotal: false,
          cents: 2_190n,
          currency: 'CNY',
          status: 'succeeded',
          reason: 'requested_by_customer',
          changesBefore: 3,
          note: why,
        },
      ],
      [
        'top-up-dispute-reported-v1',
        {
          type: 'ReportDispute',
          disputeId: 'dp_1',
          cents: 4_380n,
          currency: 'CNY',
          status: 'needs_response',
          reason: 'fraudulent',
          dueBy: 1_800_000_000,
          funds: null,
          statedAt: 1_790_000_000,
          changesBefore: 4,
          note: why,
        },
      ],
      ['top-up-restored-v1', null],
    ],
    {
      order,
      payment: { paymentId: '2026112200001', rebate },
      refunds: 1,
      restorations: 1,
      refundedCents: 0n,
      refundedQuota: 0n,
      refundedRebate: 0n,
      recordedCents: 2_190n,
      reports: {
        refunds: new Map([['re_1', { cents: 2_190n, status: 'succeeded', isLive: true }]]),
        disputes: new Map([
          [
            'dp_1',
            {
              cents: 4_380n,
              reason: 'fraudulent',
              status: 'needs_response',
              dueBy: 1_800_000_000,
              isWithdrawn: false,
              isReinstated: false,
              statedAt: 1_790_000_000,
            },
          ],
        ]),
        chargeCents: 0n,
      },
      coveredCents: 2_190n,
      changes: 6,
    },
  )
  story(
    'the account of the user who topped up',
    deciderWithoutBalances,
    [
      [
        'top-up-credited-v1',
        { type: 'CreditTopUp', userId: 7, orderId: 12, provider: 'epay', amount: 5_000_000n },
      ],
      [
        'top-up-reversed-v1',
        {
          type: 'ReverseTopUp',
          userId: 7,
          ...refund,
          provider: 'epay',
          amount: 1_666_666n,
          note: why,
        },
      ],
    ],
    {
      ...account,
      balance: 3_333_334,
      grantIds: ['top-up-12'],
      deductionIds: ['top-up-12-1'],
    },
  )
  story(
    'the account of the inviter',
    deciderWithoutBalances,
    [
      [
        'rebate-earned-v1',
        { type: 'EarnRebate', userId: 3, orderId: 12, inviteeId: 7, amount: 500_000n },
      ],
      ['rebate-reversed-v1', { type: 'ReverseRebate', userId: 3, ...refund, amount: 166_666n }],
      [
        'rebate-reversed-owed-v1',
        { type: 'ReverseRebate', userId: 3, ...refund, refundNo: 2, amount: 333_400n },
      ],
    ],
    {
      ...account,
      balance: -66,
      grantIds: ['rebate-12'],
      deductionIds: ['rebate-12-1', 'rebate-12-2'],
    },
  )
})
