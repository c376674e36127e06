import Type, { type Static } from 'typebox'
import { choiceOf, Envelope, Page, Query, sortedBy } from './envelope.ts'

/** The source of a refund or its return: an admin, or a report of the payment provider. */
const Source = Type.Union([Type.Literal('admin'), Type.Literal('refund'), Type.Literal('dispute')])

/**
 * The provider's id of the refund or dispute; empty unless the reader is an admin, and for an
 * admin's refund.
 */
const sourceId = Type.String()

export const Refund = Type.Object({
  /** Counts from 1 within the order. */
  refund_no: Type.Integer(),
  /** Exact, such as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  reason: Type.String(),
  /** The admin who made it; 0 and empty unless the reader is an admin. */
  actor_id: Type.Integer(),
  actor_name: Type.String(),
  source: Source,
  source_id: sourceId,
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type Refund = Static<typeof Refund>

/** The return of a refund's quota, because the refund failed or the dispute was won. */
export const Restoration = Type.Object({
  /** Exact, such as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  source: Source,
  source_id: sourceId,
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type Restoration = Static<typeof Restoration>

/** The provider's report about a refund or dispute of the order. */
export const PaymentReport = Type.Object({
  kind: Type.Union([Type.Literal('refund'), Type.Literal('dispute')]),
  /** The provider's id of the refund, the charge or the dispute. */
  report_id: Type.String(),
  money: Type.String(),
  /** The provider's codes, such as `needs_response` and `fraudulent`. */
  status: Type.String(),
  reason: Type.String(),
  /** The deadline to respond to a dispute in Unix seconds; null: no response is possible. */
  due_by: Type.Union([Type.Integer(), Type.Null()]),
  is_withdrawn: Type.Boolean(),
  is_reinstated: Type.Boolean(),
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type PaymentReport = Static<typeof PaymentReport>

export const Order = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** The order's name at the provider. */
  trade_no: Type.String(),
  payment_method: Type.Union([Type.Literal('zfb'), Type.Literal('wx'), Type.Literal('stripe')]),
  /** Dollars of quota. */
  amount: Type.Integer(),
  quota: Type.Integer(),
  money: Type.String(),
  currency: Type.String(),
  top_up_code: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('refunded')]),
  /** The provider's id of the payment; empty before it is paid. */
  payment_id: Type.String(),
  /** The money that is left to refund; `0.00` if everything was refunded. */
  refundable: Type.String(),
  /** The money that is currently refunded; `0.00` if none is, or all of it was restored. */
  refunded: Type.String(),
  refunds: Type.Array(Refund),
  restorations: Type.Array(Restoration),
  /** In order of arrival; empty unless the reader is an admin. */
  reports: Type.Array(PaymentReport),
  /** The inviter's rebate; 0 unless the reader is an admin. */
  rebate_quota: Type.Integer(),
  /** Unix seconds; null if not paid. */
  created_at: Type.Integer(),
  paid_at: Type.Union([Type.Integer(), Type.Null()]),
})
export type Order = Static<typeof Order>

/** The columns that the list can be sorted by. */
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
