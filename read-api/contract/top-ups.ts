import Type, { type Static } from 'typebox'

/** Who said that money left or came back: an admin, or a report of the payment provider. */
const Source = Type.Union([Type.Literal('admin'), Type.Literal('refund'), Type.Literal('dispute')])

/** The provider's id of the refund or dispute; empty for anyone but admins, and of an admin's. */
const sourceId = Type.String()

export const Refund = Type.Object({
  /** Counts up from 1 in its order. */
  refund_no: Type.Integer(),
  /** Exact, as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  reason: Type.String(),
  /** Who made it; 0 and empty for anyone but admins. */
  actor_id: Type.Integer(),
  actor_name: Type.String(),
  source: Source,
  source_id: sourceId,
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type Refund = Static<typeof Refund>

/** What a refund had taken returned: it failed, or the dispute was won. */
export const Restoration = Type.Object({
  /** Exact, as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  source: Source,
  source_id: sourceId,
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type Restoration = Static<typeof Restoration>

/** A word of the provider's about a refund or a dispute of the order. */
export const PaymentReport = Type.Object({
  kind: Type.Union([Type.Literal('refund'), Type.Literal('dispute')]),
  /** The provider's id of the refund, the charge or the dispute. */
  report_id: Type.String(),
  money: Type.String(),
  /** The provider's codes: `needs_response`, `fraudulent`. */
  status: Type.String(),
  reason: Type.String(),
  /** Until when a dispute can be answered, unix seconds; null: it can not. */
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
  /** What the provider calls the order by. */
  trade_no: Type.String(),
  payment_method: Type.Union([Type.Literal('zfb'), Type.Literal('wx'), Type.Literal('stripe')]),
  /** Dollars of quota. */
  amount: Type.Integer(),
  quota: Type.Integer(),
  money: Type.String(),
  currency: Type.String(),
  top_up_code: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('refunded')]),
  /** The provider's id of the payment; empty while there is none. */
  payment_id: Type.String(),
  /** What is left of the money; `0.00` when all of it was refunded. */
  refundable: Type.String(),
  /** What is given back at this moment: `0.00` where nothing is, or all of it was restored. */
  refunded: Type.String(),
  refunds: Type.Array(Refund),
  restorations: Type.Array(Restoration),
  /** In the order in which they came; empty for anyone but admins. */
  reports: Type.Array(PaymentReport),
  /** What the inviter got; 0 for anyone but admins. */
  rebate_quota: Type.Integer(),
  /** Unix seconds; null: not paid. */
  created_at: Type.Integer(),
  paid_at: Type.Union([Type.Integer(), Type.Null()]),
})
export type Order = Static<typeof Order>
