import { toWire } from '#domain/shared/quota.ts'
import { type OrderRow, type RefundRow, refundsOf } from '#projections/orders/query.ts'
import type { Order, Refund } from '../contract/top-up.ts'
import type { ReadParts } from '../question.ts'

/** Orders as the wire has them; who refunded and who was rewarded is for admins alone. */
export async function orderAnswers(
  { core }: Pick<ReadParts, 'core'>,
  rows: readonly OrderRow[],
  { isAdmin }: { readonly isAdmin: boolean },
): Promise<Order[]> {
  const refunds = await refundsOf(
    core.db,
    rows.filter(({ refunds }) => refunds > 0).map(({ id }) => id),
  )
  const ofOrder = Map.groupBy(refunds, ({ orderId }) => orderId)
  return Promise.all(
    rows.map(async (row) => {
      const own = ofOrder.get(row.id) ?? []
      const opened = own.map(async (refund) => {
        const reason = (await core.vault.open(row.userId, refund.reason)) ?? ''
        return refundAnswer(refund, reason, isAdmin)
      })
      return orderAnswer(row, await Promise.all(opened), isAdmin)
    }),
  )
}

const orderAnswer = (row: OrderRow, refunds: Refund[], isAdmin: boolean): Order => ({
  id: row.id,
  user_id: row.userId,
  username: row.username,
  trade_no: row.tradeNo,
  payment_method: row.method,
  amount: row.amount,
  quota: toWire(row.quota),
  money: moneyText(row.cents),
  currency: row.currency,
  top_up_code: row.code,
  status: row.refunds > 0 ? 'refunded' : row.status,
  payment_id: row.paymentId,
  refundable: moneyText(row.status === 'paid' ? row.cents - row.refundedCents : 0n),
  refunds,
  rebate_quota: isAdmin ? toWire(row.rebateQuota) : 0,
  created_at: row.createdAt,
  paid_at: row.paidAt,
})

const refundAnswer = (row: RefundRow, reason: string, isAdmin: boolean): Refund => ({
  refund_no: row.refundNo,
  money: moneyText(row.cents),
  quota: toWire(row.quota),
  reason,
  actor_id: isAdmin ? row.actorId : 0,
  actor_name: isAdmin ? row.actorName : '',
  created_at: row.createdAt,
})

const moneyText = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
