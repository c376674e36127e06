import Type, { type Static } from 'typebox'
import { PAYMENT_METHODS } from '#domain/shared/payment-methods.ts'
import { answerProperties } from './field-schemas.ts'
import type { Fields } from './resource-field-definition.ts'
import { choiceOf, Envelope, Page, Query, sortedBy } from './response-envelope.ts'

/**
 * The source of a refund or of a restoration: an admin, or a provider's report of a refund or
 * dispute. `sourceId` is the provider's id of that refund or dispute. It is empty if the source is
 * an admin, and for readers who are not admins.
 */
const SOURCE_FIELDS = {
  source: {
    wire: 'source',
    type: 'choice',
    values: ['admin', 'refund', 'dispute'],
    access: 'read',
  },
  sourceId: { wire: 'source_id', type: 'text', access: 'read' },
} as const satisfies Fields

/**
 * A refund of an order. The fields are in the order of the responses. Times are in Unix seconds.
 */
export const REFUND_FIELDS = {
  /** The number of the refund within the order, from 1. */
  refundNo: { wire: 'refund_no', type: 'integer', access: 'read' },
  money: { wire: 'money', type: 'money', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  /** The reason, encrypted with the key of the user who placed the order. */
  reason: { wire: 'reason', type: 'sealedText', access: 'read' },
  /** The admin who made the refund. It is 0 for readers who are not admins. */
  actorId: { wire: 'actor_id', type: 'integer', access: 'read' },
  actorName: { wire: 'actor_name', type: 'text', access: 'read' },
  ...SOURCE_FIELDS,
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

/** A restoration of refunded quota, because the refund failed or the dispute was won. */
export const RESTORATION_FIELDS = {
  money: { wire: 'money', type: 'money', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  ...SOURCE_FIELDS,
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

export const REPORT_FIELDS = {
  kind: { wire: 'kind', type: 'choice', values: ['refund', 'dispute'], access: 'read' },
  /** The provider's id of the refund, the charge or the dispute. */
  reportId: { wire: 'report_id', type: 'text', access: 'read' },
  money: { wire: 'money', type: 'money', access: 'read' },
  /**
   * The provider's status of the refund or dispute, such as `needs_response`. `reason` is the
   * provider's code for the reason, such as `fraudulent`.
   */
  status: { wire: 'status', type: 'text', access: 'read' },
  reason: { wire: 'reason', type: 'text', access: 'read' },
  /**
   * The deadline for the response to a dispute, in Unix seconds. It is null if no response is
   * possible.
   */
  dueBy: { wire: 'due_by', type: 'nullableInteger', access: 'read' },
  isWithdrawn: { wire: 'is_withdrawn', type: 'flag', access: 'read' },
  isReinstated: { wire: 'is_reinstated', type: 'flag', access: 'read' },
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

/** An order of quota. The fields are in the order of the responses. Times are in Unix seconds. */
export const ORDER_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  /** The id by which the payment provider identifies the order. */
  tradeNo: { wire: 'trade_no', type: 'text', access: 'read' },
  method: {
    wire: 'payment_method',
    type: 'choice',
    values: PAYMENT_METHODS,
    access: 'read',
  },
  /** The ordered quota in US dollars. */
  amount: { wire: 'amount', type: 'integer', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  money: { wire: 'money', type: 'money', access: 'read' },
  currency: { wire: 'currency', type: 'text', access: 'read' },
  code: { wire: 'top_up_code', type: 'text', access: 'read' },
  status: {
    wire: 'status',
    type: 'choice',
    values: ['pending', 'paid', 'refunded'],
    access: 'read',
  },
  /** The provider's id of the payment. It is empty until the order is paid. */
  paymentId: { wire: 'payment_id', type: 'text', access: 'read' },
  /** The amount of money that can still be refunded. */
  refundable: { wire: 'refundable', type: 'money', access: 'read' },
  /** The amount of money that is refunded. Restored money does not count. */
  refunded: { wire: 'refunded', type: 'money', access: 'read' },
  /** The inviter's rebate in quota. It is 0 for readers who are not admins. */
  rebateQuota: { wire: 'rebate_quota', type: 'integer', access: 'read' },
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
  /** The time of the payment, or null. */
  paidAt: { wire: 'paid_at', type: 'nullableInteger', access: 'read' },
} as const satisfies Fields

const { rebate_quota, created_at, paid_at, ...orderProperties } = answerProperties(ORDER_FIELDS)
/** The schema of `PAYMENT_METHODS`. */
export const PaymentMethod = orderProperties.payment_method
export type PaymentMethod = Static<typeof PaymentMethod>

const Order = Type.Object({
  ...orderProperties,
  refunds: Type.Array(Type.Object(answerProperties(REFUND_FIELDS))),
  restorations: Type.Array(Type.Object(answerProperties(RESTORATION_FIELDS))),
  /**
   * The provider's reports in the order of their arrival. The list is empty for readers who are not
   * admins.
   */
  reports: Type.Array(Type.Object(answerProperties(REPORT_FIELDS))),
  rebate_quota,
  created_at,
  paid_at,
})
export type Order = Static<typeof Order>
export type Refund = Order['refunds'][number]
export type PaymentReport = Order['reports'][number]

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
  ...Query.keysetPage,
  keyword: Query.text,
  status: choiceOf(['pending', 'paid', 'refunded', 'disputed']),
  ...sortedBy(ORDER_SORTS),
})

const listOrders = { querystring: OrderQuery, response: { 200: Envelope(Page(Order)) } }

export const orderQueries = {
  'GET /api/user/topup/self': listOrders,
  'GET /api/user/topup': listOrders,
}
