import { type CommonQueryMethods, sql } from 'slonik'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import {
  ORDER_FIELDS,
  type OrderSort,
  REFUND_FIELDS,
  REPORT_FIELDS,
  RESTORATION_FIELDS,
} from '#read-api/contract/top-ups.ts'
import {
  containing,
  followsRow,
  type Listed,
  type ListOrder,
  orderTerms,
  type Slice,
} from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const orderRow = rowType(fieldColumns(ORDER_FIELDS))
export type OrderRow = RowOf<typeof orderRow>

export type OrderState = 'pending' | 'paid' | 'refunded' | 'disputed'

export type OrderFilter = {
  /** The user whose orders are listed, or null for all users. */
  readonly userId: number | null
  /** An order id, trade number, payment id, or part of a username. An empty text matches all. */
  readonly keyword: string
  /**
   * `refunded` also matches partly refunded orders, and `disputed` also matches ended disputes.
   * null matches every order.
   */
  readonly state: OrderState | null
}

/**
 * The `from` clause for all orders. `state` is the displayed status. It is `refunded` if any money
 * was refunded and not restored.
 */
const tables = sql.fragment`
  from (
    select o.*, coalesce(u.username, '') as username,
      case when o.refunded_cents > 0 then 'refunded' else o.status end as state,
      case when o.status = 'paid' then o.cents - o.refunded_cents else 0 end as refundable_cents
    from read_orders.orders o left join read_users.users u on u.id = o.user_id
  ) o
`

/** The columns whose names differ from the names of their fields. */
export const ORDER_COLUMNS = {
  status: 'state',
  money: 'cents',
  refunded: 'refunded_cents',
  refundable: 'refundable_cents',
}
const columns = selectedFields('o', ORDER_FIELDS, ORDER_COLUMNS)

/**
 * The sort columns of orders `o`. When sorted by status, pending orders come first, then paid, then
 * refunded orders.
 */
const SORT_COLUMNS = {
  id: sql.fragment`o.id`,
  username: sql.fragment`lower(o.username)`,
  status: sql.fragment`array_position(array['pending', 'paid', 'refunded'], o.state)`,
  money: sql.fragment`o.cents`,
  refunded: sql.fragment`o.refunded_cents`,
  quota: sql.fragment`o.quota`,
  payment_method: sql.fragment`o.method`,
  created_at: sql.fragment`o.created_at`,
} satisfies Record<OrderSort, unknown>

/**
 * Lists orders. Orders with equal sort values are listed newest first. A sort by money ignores the
 * currency.
 */
export async function listOrders(
  db: CommonQueryMethods,
  { userId, keyword, state, limit, offset, ...order }: OrderFilter & Slice & ListOrder<OrderSort>,
): Promise<Listed<OrderRow>> {
  const matches = sql.fragment`
    (${userId === null} or o.user_id = ${userId ?? 0})
    and (${keyword} = '' or o.id::text = ${keyword} or o.trade_no = ${keyword}
      or o.payment_id = ${keyword} or o.username ilike ${containing(keyword)})
    and (${state === null} or ${state ?? ''} = o.state
      or (${state ?? ''} = 'disputed' and exists (
        select from read_orders.reports d where d.order_id = o.id and d.kind = 'dispute')))
  `
  const visible = sql.fragment`${tables} where (${userId === null} or o.user_id = ${userId ?? 0})`
  const rows = await db.any(sql.type(orderRow)`
    select ${columns} ${tables}
    where ${matches} and ${followsRow(SORT_COLUMNS, order, 'id', visible)}
    order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`o.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total ${tables} where ${matches}
  `)
  return { rows, total }
}

export const highestOrderId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_orders.orders
  `)

/**
 * Returns the order that was paid with this Stripe payment. Returns null if no paid order has this
 * payment.
 */
export const orderOfPayment = (db: CommonQueryMethods, paymentId: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_orders.orders
    where payment_id = ${paymentId} and payment_id <> '' and provider = 'stripe'
    order by id limit 1
  `)

/** The column for amounts of money, which are stored in hundredths of the order's currency. */
export const CENTS = { money: 'cents' }

const refundRow = rowType({ orderId: wireInteger, ...fieldColumns(REFUND_FIELDS) })

/** Reads the refunds of the given orders, oldest first. */
export const refundsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly RowOf<typeof refundRow>[]> =>
  db.any(sql.type(refundRow)`
    select r.order_id as "orderId", ${selectedFields('r', REFUND_FIELDS, CENTS)}
    from (
      select r.*, coalesce(u.username, '') as actor_name
      from read_orders.refunds r left join read_users.users u on u.id = r.actor_id
    ) r
    where r.order_id = any(${sql.array(orderIds, 'int8')})
    order by r.order_id, r.refund_no
  `)

const restorationRow = rowType({ orderId: wireInteger, ...fieldColumns(RESTORATION_FIELDS) })

/**
 * Reads the restorations of the given orders (quota that was given back after a refund failed or a
 * dispute was won), oldest first.
 */
export const restorationsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly RowOf<typeof restorationRow>[]> =>
  db.any(sql.type(restorationRow)`
    select r.order_id as "orderId", ${selectedFields('r', RESTORATION_FIELDS, CENTS)}
    from read_orders.restorations r where r.order_id = any(${sql.array(orderIds, 'int8')})
    order by order_id, restore_no
  `)

const reportRow = rowType({ orderId: wireInteger, ...fieldColumns(REPORT_FIELDS) })

/** Reads the payment provider's reports about the given orders, in the order of their arrival. */
export const reportsOf = (
  db: CommonQueryMethods,
  orderIds: readonly number[],
): Promise<readonly RowOf<typeof reportRow>[]> =>
  db.any(sql.type(reportRow)`
    select r.order_id as "orderId", ${selectedFields('r', REPORT_FIELDS, CENTS)}
    from read_orders.reports r where r.order_id = any(${sql.array(orderIds, 'int8')})
    order by order_id, position
  `)
