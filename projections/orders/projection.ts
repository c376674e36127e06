import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#domain/shared/assert.ts'
import { fromWire } from '#domain/shared/quota.ts'
import type { TopUpEvent } from '#domain/top-up/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../seconds.ts'

/** Who ordered what quota for how much money, whether it was paid, and what was given back. */
export const orders = projectionOf<TopUpEvent>({
  name: 'orders',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { orders: { key: ['id'] }, refunds: { key: ['order_id', 'refund_no'] } },
  handlers: {
    TopUpOrdered: ({ data, meta }, rows) =>
      rows.insert(
        'orders',
        { id: data.orderId },
        {
          user_id: data.userId,
          trade_no: data.tradeNo,
          provider: data.provider,
          method: data.method,
          amount: data.amount,
          quota: data.quota,
          cents: centsOf(data.money),
          currency: data.currency,
          code: data.code?.name ?? '',
          created_at: secondsOf(meta.at),
        },
      ),
    TopUpPaid: ({ data, meta }, rows) =>
      rows.patch(
        'orders',
        { id: data.orderId },
        {
          status: 'paid',
          payment_id: data.paymentId,
          rebate_quota: data.rebate?.quota ?? 0,
          inviter_id: data.rebate?.inviterId ?? null,
          paid_at: secondsOf(meta.at),
        },
      ),
    TopUpRefunded: ({ data, meta }, rows) => {
      const { orderId, refundNo, money, quota, reason } = data
      const given = { refunded_cents: centsOf(money), refunded_quota: fromWire(quota) }
      rows.patch('orders', { id: orderId }, {}, { ...given, refunds: 1n })
      const actor_id = Number(/^user:(\d+)$/.exec(meta.actor)?.[1] ?? 0)
      const cells = { cents: centsOf(money), quota, reason, actor_id }
      rows.insert(
        'refunds',
        { order_id: orderId, refund_no: refundNo },
        { ...cells, created_at: secondsOf(meta.at) },
      )
    },
  },
})

/** Hundredths of an event's money, which always has two digits after the point. */
function centsOf(money: string): bigint {
  assert(/^\d+\.\d\d$/.test(money), `${money} is no sum of money`)
  return BigInt(money.replace('.', ''))
}
