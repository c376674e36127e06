import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#domain/shared/assert.ts'
import { fromWire } from '#domain/shared/quota.ts'
import type {
  TopUpDisputeReported,
  TopUpEvent,
  TopUpRefunded,
  TopUpRefundReported,
  TopUpRestored,
} from '#domain/top-ups/events.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * The handlers that add one row for each report of the payment provider about a refund or a
 * dispute.
 */
const reports: Handlers<TopUpRefundReported | TopUpDisputeReported> = {
  TopUpRefundReported: ({ data, meta, position }, rows) => {
    const { orderId, refundId, money, status, reason } = data
    const cells = { kind: 'refund', report_id: refundId, cents: centsOf(money), status, reason }
    rows.insert(
      'reports',
      { order_id: orderId, position },
      { ...cells, created_at: secondsOf(meta.at) },
    )
  },
  TopUpDisputeReported: ({ data, meta, position }, rows) => {
    const { orderId, disputeId, money, status, reason, dueBy } = data
    const flags = { is_withdrawn: data.isWithdrawn, is_reinstated: data.isReinstated }
    const said = { kind: 'dispute', report_id: disputeId, cents: centsOf(money) }
    rows.insert(
      'reports',
      { order_id: orderId, position },
      { ...said, status, reason, due_by: dueBy, ...flags, created_at: secondsOf(meta.at) },
    )
  },
}

/**
 * The handlers that add rows for refunds, and for money that was restored after a failed refund or
 * a won dispute.
 */
const movements: Handlers<TopUpRefunded | TopUpRestored> = {
  TopUpRefunded: ({ data, meta }, rows) => {
    const { orderId, refundNo, money, quota, reason, source } = data
    const refundCells = { refunded_cents: centsOf(money), refunded_quota: fromWire(quota) }
    rows.patch('orders', { id: orderId }, {}, { ...refundCells, refunds: 1n })
    const actor_id = Number(/^user:(\d+)$/.exec(meta.actor)?.[1] ?? 0)
    const said = source === undefined ? {} : { source: source.kind, source_id: source.id }
    const cells = { cents: centsOf(money), quota, reason, actor_id, ...said }
    rows.insert(
      'refunds',
      { order_id: orderId, refund_no: refundNo },
      { ...cells, created_at: secondsOf(meta.at) },
    )
  },
  TopUpRestored: ({ data, meta }, rows) => {
    const { orderId, restoreNo, money, quota, source } = data
    const back = { refunded_cents: -centsOf(money), refunded_quota: -fromWire(quota) }
    rows.patch('orders', { id: orderId }, {}, back)
    const cells = { cents: centsOf(money), quota, source: source.kind, source_id: source.id }
    rows.insert(
      'restorations',
      { order_id: orderId, restore_no: restoreNo },
      { ...cells, created_at: secondsOf(meta.at) },
    )
  },
}

/** The orders, with user, quota and price, and whether each was paid or refunded. */
export const orders = projectionOf<TopUpEvent>({
  name: 'orders',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    orders: { key: ['id'] },
    refunds: { key: ['order_id', 'refund_no'] },
    restorations: { key: ['order_id', 'restore_no'] },
    reports: { key: ['order_id', 'position'] },
  },
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
    ...movements,
    ...reports,
  },
})

/** Parses an amount of money in an event. Such an amount always has two decimal places. */
function centsOf(money: string): bigint {
  assert(/^\d+\.\d\d$/.test(money), `${money} is not an amount of money`)
  return BigInt(money.replace('.', ''))
}
