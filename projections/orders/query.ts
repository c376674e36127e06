import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import {
  nullable,
  quota,
  type RowOf,
  rowType,
  sealed,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import type { OrderSort } from '#read-api/contract/top-ups.ts'
import { containing, type Listed, type ListOrder, orderTerms, type Slice } from '../list-queries.ts'

const orderRow = rowType({
  id: wireInteger,
  userId: wireInteger,
  username: Type.String(),
  tradeNo: Type.String(),
  provider: Type.Enum(['epay', 'stripe']),
  method: Type.Enum(['zfb', 'wx', 'stripe']),
  /** The ordered quota in US dollars. */
  amount: wireInteger,
  quota,
  /** `cents` and `refundedCents` are hundredths of `currency`. */
  cents: quota,
  currency: Type.String(),
  code: Type.String(),
  status: Type.Enum(['pending', 'paid']),
  paymentId: Type.String(),
  rebateQuota: quota,
  inviterId: nullable(wireInteger),
  refundedCents: quota,
  refundedQuota: quota,
  refunds: wireInteger,
  /** `createdAt` and `paidAt` are unix seconds. */
  createdAt: wireInteger,
  paidAt: nullable(wireInteger),
})
export type OrderRow = RowOf<typeof orderRow>

export type OrderState = 'pending' | 'paid' | 'refunded' | 'disputed'

export type OrderFilter = {
  /** null selects the orders of all users. */
  readonly userId: number | null
  /**
   * An order id, a trade number, a payment id, or part of a username. An empty text matches every
   * order.
   */
  readonly keyword: string
  /**
   * `refunded` includes partial refunds, and `disputed` includes ended disputes. null matches every
   * order.
   */
  readonly state: OrderState | null
}

const columns = sql.fragment`
  o.id, o.user_id as "userId", coalesce(u.username, '') as username, o.trade_no as "tradeNo",
  o.provider, o.method, o.amount, o.quota, o.cents, o.currency, o.code, o.status,
  o.payment_id as "paymentId", o.rebate_quota as "rebateQuota", o.inviter_id as "inviterId",
  o.refunded_cents as "refundedCents", o.refunded_quota as "refundedQuota", o.refunds,
  o.created_at as "createdAt", o.paid_at as "paidAt"
`

const tables = sql.fragment`
  from read_orders.orders o left join read_users.users u on u.id = o.user_id
`

/**
 * The sort columns of orders `o` and users `u`. In a sort by status, refunded orders follow paid
 * orders.
 */
const SORT_COLUMNS = {
  id: sql.fragment`o.id`,
  username: sql.fragment`lower(coalesce(u.username, ''))`,
  status: sql.fragment`
    case when o.refunded_cents > 0 then 2 when o.status = 'paid' then 1 else 0 end
  `,
  money: sql.fragment`o.cents`,
  refunded: sql.fragment`o.refunded_cents`,
  quota: sql.fragment`o.quota`,
  payment_method: sql.fragment`o.method`,
  created_at: sql.fragment`o.created_at`,
} satisfies Record<OrderSort, unknown>

/**
 * Lists orders. Orders with equal sort values are listed newest first. Amounts of money are
 * compared as numbers, even if their currencies differ.
 */
export async function listOrders(
  db: CommonQueryMethods,
  { userId, keyword, state, limit, offset, ...order }: OrderFilter & Slice & ListOrder<OrderSort>,
): Promise<Listed<OrderRow>> {
  const matches = sql.fragment`
    (${userId === null} or o.user_id = ${userId ?? 0})
    and (${keyword} = '' or o.id::text = ${keyword} or o.trade_no = ${keyword}
      or o.payment_id = ${keyword} or u.username ilike ${containing(keyword)})
    and (${state === null}
      or (${state ?? ''} = 'refunded' and o.refunded_cents > 0)
      or (${state ?? ''} = 'disputed' and exists (
        select from read_orders.reports d where d.order_id = o.id and d.kind = 'dispute'))
      or (${state ?? ''} = o.status and o.refunded_cents = 0))
  `
  const rows = await db.any(sql.type(orderRow)`
    select ${columns} ${tables} where ${matches}
    order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`o.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total ${tables} where ${matches}
  `)
  return { rows, total }
}

/** Returns the highest order id; 0 when there are no orders. */
export const highestOrderId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_orders.orders
  `)

/**
 * Returns the order that was paid by a Stripe payment; null when the payment does not belong to an
 * order of this site.
 */
export const orderOfPayment = (db: CommonQueryMethods, paymentId: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_orders.orders
    where payment_id = ${paymentId} and payment_id <> '' and provider = 'stripe'
    order by id limit 1
  `)

const source = Type.Enum(['admin', 'refund', 'dispute'])

const refundRow = rowType({
  orderId: wireInteger,
  refundNo: wireInteger,
  cents: quota,
  quota,
  /** The reason, encrypted with the data key of the user who placed the order. */
  reason: sealed,
  actorId: wireInteger,
  actorName: Type.String(),
  /**
   * The source of the refund: an admin, or the provider's refund or dispute. `sourceId` is the
   * provider's id of the refund or dispute, and is empty for a refund by an admin.
   */
  source,
  sourceId: Type.String(),
  /** The time of the refund in unix seconds. */
  createdAt: wireInteger,
})
export type RefundRow = RowOf<typeof refundRow>

/** Reads the refunds of these orders in the order in which they were made. */
export const refundsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly RefundRow[]> =>
  db.any(sql.type(refundRow)`
    select r.order_id as "orderId", r.refund_no as "refundNo", r.cents, r.quota, r.reason,
      r.actor_id as "actorId", coalesce(u.username, '') as "actorName",
      r.source, r.source_id as "sourceId", r.created_at as "createdAt"
    from read_orders.refunds r left join read_users.users u on u.id = r.actor_id
    where r.order_id = any(${sql.array(orderIds, 'int8')})
    order by r.order_id, r.refund_no
  `)

const restorationRow = rowType({
  orderId: wireInteger,
  restoreNo: wireInteger,
  cents: quota,
  quota,
  source,
  sourceId: Type.String(),
  /** The time of the restoration in unix seconds. */
  createdAt: wireInteger,
})
export type RestorationRow = RowOf<typeof restorationRow>

/** Reads the restorations of these orders in the order in which they were made. */
export const restorationsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly RestorationRow[]> =>
  db.any(sql.type(restorationRow)`
    select order_id as "orderId", restore_no as "restoreNo", cents, quota, source,
      source_id as "sourceId", created_at as "createdAt"
    from read_orders.restorations where order_id = any(${sql.array(orderIds, 'int8')})
    order by order_id, restore_no
  `)

const reportRow = rowType({
  orderId: wireInteger,
  kind: Type.Enum(['refund', 'dispute']),
  /** The provider's id of the refund, the charge or the dispute. */
  reportId: Type.String(),
  cents: quota,
  /** `status` and `reason` are codes of the payment provider. */
  status: Type.String(),
  reason: Type.String(),
  /** The deadline for evidence in unix seconds; null when no evidence can be submitted. */
  dueBy: nullable(wireInteger),
  isWithdrawn: Type.Boolean(),
  isReinstated: Type.Boolean(),
  /** The time of the report in unix seconds. */
  createdAt: wireInteger,
})
export type ReportRow = RowOf<typeof reportRow>

/**
 * Reads all of the payment provider's reports about these orders, in the order in which they
 * arrived.
 */
export const reportsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly ReportRow[]> =>
  db.any(sql.type(reportRow)`
    select order_id as "orderId", kind, report_id as "reportId", cents, status, reason,
      due_by as "dueBy", is_withdrawn as "isWithdrawn", is_reinstated as "isReinstated",
      created_at as "createdAt"
    from read_orders.reports where order_id = any(${sql.array(orderIds, 'int8')})
    order by order_id, position
  `)
