import Type, { type Static } from 'typebox'
import { choiceOf, Envelope, Page, Query, sortedBy } from './envelope.ts'

/** The source of a refund or a restoration: an admin, or a report of the payment provider. */
const Source = Type.Union([Type.Literal('admin'), Type.Literal('refund'), Type.Literal('dispute')])

/**
 * The provider's id of the refund or dispute. It is empty for an admin's refund, and
 * always for readers who are not admins.
 */
const sourceId = Type.String()

export const Refund = Type.Object({
  /** The number of the refund within the order, from 1. */
  refund_no: Type.Integer(),
  /** The exact amount of money, such as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  reason: Type.String(),
  /** The admin who made the refund. It is 0 or empty for readers who are not admins. */
  actor_id: Type.Integer(),
  actor_name: Type.String(),
  source: Source,
  source_id: sourceId,
  /** The time of the refund in Unix seconds. */
  created_at: Type.Integer(),
})
export type Refund = Static<typeof Refund>

/** The restoration of refunded quota, because the refund failed or the dispute was won. */
export const Restoration = Type.Object({
  /** The exact amount of money, such as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  source: Source,
  source_id: sourceId,
  /** The time of the restoration in Unix seconds. */
  created_at: Type.Integer(),
})
export type Restoration = Static<typeof Restoration>

/** A report of the provider about a refund or dispute of the order. */
export const PaymentReport = Type.Object({
  kind: Type.Union([Type.Literal('refund'), Type.Literal('dispute')]),
  /** The provider's id of the refund, the charge or the dispute. */
  report_id: Type.String(),
  money: Type.String(),
  /** The provider's codes, such as status `needs_response` and reason `fraudulent`. */
  status: Type.String(),
  reason: Type.String(),
  /** The deadline to respond to a dispute in Unix seconds; null if no response is possible. */
  due_by: Type.Union([Type.Integer(), Type.Null()]),
  is_withdrawn: Type.Boolean(),
  is_reinstated: Type.Boolean(),
  /** The time of the report in Unix seconds. */
  created_at: Type.Integer(),
})
export type PaymentReport = Static<typeof PaymentReport>

export const Order = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** The provider's id of the order. */
  trade_no: Type.String(),
  payment_method: Type.Union([Type.Literal('zfb'), Type.Literal('wx'), Type.Literal('stripe')]),
  /** The ordered quota in dollars. */
  amount: Type.Integer(),
  quota: Type.Integer(),
  money: Type.String(),
  currency: Type.String(),
  top_up_code: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('refunded')]),
  /** The provider's id of the payment. It is empty before the order is paid. */
  payment_id: Type.String(),
  /** The amount of money that can still be refunded. It is `0.00` if everything was refunded. */
  refundable: Type.String(),
  /**
   * The amount of money that is currently refunded. It is `0.00` if nothing was refunded, or if all
   * of it was restored.
   */
  refunded: Type.String(),
  refunds: Type.Array(Refund),
  restorations: Type.Array(Restoration),
  /** The provider's reports in order of arrival. The list is empty for non-admins. */
  reports: Type.Array(PaymentReport),
  /** The inviter's rebate in quota. It is 0 for readers who are not admins. */
  rebate_quota: Type.Integer(),
  /** The time of the order in Unix seconds. `paid_at` is null if the order is not paid. */
  created_at: Type.Integer(),
  paid_at: Type.Union([Type.Integer(), Type.Null()]),
})
export type Order = Static<typeof Order>

/** The columns by which the list of orders can be sorted. */
const ORDER_SORTS = [
  'id',
  'username',
  'status',
  'money',
  'refunded',
  'quota',
  'payment_method',
  'created_at',
] as const
export type OrderSort = (typeof ORDER_SORTS)[number]

export const OrderQuery = Type.Object({
  ...Query.page,
  keyword: Query.text,
  status: choiceOf(['pending', 'paid', 'refunded', 'disputed']),
  ...sortedBy(ORDER_SORTS),
})

const listOrders = { querystring: OrderQuery, response: { 200: Envelope(Page(Order)) } }

export const orderQueries = {
  'GET /api/user/topup/self': listOrders,
  'GET /api/user/topup': listOrders,
}
