import Type, { type Static } from 'typebox'
import { PAYMENT_METHODS } from '#domain/shared/payment-methods.ts'
import { choiceOf, Query, sortedBy } from './request-parameters.ts'
import type { Fields } from './resource-field-definition.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

/**
 * The source of a refund or a restoration: an admin, or a refund or a dispute that the payment
 * provider reported. `sourceId` is the provider's id of the reported refund or dispute. `sourceId`
 * is empty for the source `admin`, and in responses to users who are not admins.
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

/** The fields of a refund of an order, in the order of the responses. Times are in Unix seconds. */
export const REFUND_FIELDS = {
  /** The number of the refund within the order, from 1. */
  refundNo: { wire: 'refund_no', type: 'integer', access: 'read' },
  money: { wire: 'money', type: 'money', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  /** The reason of the refund, encrypted with the key of the user who placed the order. */
  reason: { wire: 'reason', type: 'encryptedText', access: 'read' },
  /** The admin who made the refund. 0 in responses to users who are not admins. */
  actorId: { wire: 'actor_id', type: 'integer', access: 'read' },
  actorName: { wire: 'actor_name', type: 'text', access: 'read' },
  ...SOURCE_FIELDS,
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

/**
 * The fields of a restoration: the return of refunded quota to the user, because the refund failed
 * or the dispute was won.
 */
export const RESTORATION_FIELDS = {
  money: { wire: 'money', type: 'money', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  ...SOURCE_FIELDS,
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

export const REPORT_FIELDS = {
  kind: { wire: 'kind', type: 'choice', values: ['refund', 'dispute'], access: 'read' },
  /** The provider's id of the reported refund, charge or dispute. */
  reportId: { wire: 'report_id', type: 'text', access: 'read' },
  money: { wire: 'money', type: 'money', access: 'read' },
  /**
   * The provider's status of the refund or dispute, such as `needs_response`. `reason` is the
   * provider's code for the reason of the refund or dispute, such as `fraudulent`.
   */
  status: { wire: 'status', type: 'text', access: 'read' },
  reason: { wire: 'reason', type: 'text', access: 'read' },
  /**
   * The time until which the site can respond to a dispute, in Unix seconds. Null if the site can't
   * respond.
   */
  dueBy: { wire: 'due_by', type: 'nullableInteger', access: 'read' },
  isWithdrawn: { wire: 'is_withdrawn', type: 'flag', access: 'read' },
  isReinstated: { wire: 'is_reinstated', type: 'flag', access: 'read' },
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

/** The fields of an order of quota, in the order of the responses. Times are in Unix seconds. */
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
  /** The id that the provider gave to the payment. Empty until the order is paid. */
  paymentId: { wire: 'payment_id', type: 'text', access: 'read' },
  /** The amount of money that can still be refunded. */
  refundable: { wire: 'refundable', type: 'money', access: 'read' },
  /** The amount of money that was refunded. Refunds that were reversed do not count. */
  refunded: { wire: 'refunded', type: 'money', access: 'read' },
  /**
   * The quota that the user who invited the buyer got. 0 in responses to users who are not admins.
   */
  rebateQuota: { wire: 'rebate_quota', type: 'integer', access: 'read' },
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
  /** The time at which the order was paid, or null if it is not paid. */
  paidAt: { wire: 'paid_at', type: 'nullableInteger', access: 'read' },
} as const satisfies Fields

const { rebate_quota, created_at, paid_at, ...orderProperties } = responseProperties(ORDER_FIELDS)
export const PaymentMethod = orderProperties.payment_method
export type PaymentMethod = Static<typeof PaymentMethod>

const Order = Type.Object({
  ...orderProperties,
  refunds: Type.Array(Type.Object(responseProperties(REFUND_FIELDS))),
  restorations: Type.Array(Type.Object(responseProperties(RESTORATION_FIELDS))),
  /**
   * The payment provider's reports about the order, in the order of arrival. Empty in responses to
   * users who are not admins.
   */
  reports: Type.Array(Type.Object(responseProperties(REPORT_FIELDS))),
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
