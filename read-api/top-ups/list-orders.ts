import type { Static } from 'typebox'
import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint.ts'
import { success } from '#infra/http/envelope.ts'
import {
  listOrders,
  type OrderRow,
  type RefundRow,
  type ReportRow,
  type RestorationRow,
  refundsOf,
  reportsOf,
  restorationsOf,
} from '#projections/orders/query.ts'
import {
  type Order,
  type OrderQuery,
  orderQueries,
  type PaymentReport,
  type Refund,
  type Restoration,
} from '../contract/top-ups.ts'
import { type App, orderOf, pageOf, type ReadDeps, upToDate } from '../route.ts'

/**
 * Returns the responses for orders. The admin who made a refund, the inviter's rebate and the
 * provider's reports are only included for admins.
 */
async function orderAnswers(
  { core }: Pick<ReadDeps, 'core'>,
  rows: readonly OrderRow[],
  { isAdmin }: { readonly isAdmin: boolean },
): Promise<Order[]> {
  const ids = rows.map(({ id }) => id)
  const [refunds, restorations, reports] = await Promise.all([
    refundsOf(core.db, ids),
    restorationsOf(core.db, ids),
    isAdmin ? reportsOf(core.db, ids) : [],
  ])
  const refundsByOrder = Map.groupBy(refunds, ({ orderId }) => orderId)
  const restorationsByOrder = Map.groupBy(restorations, ({ orderId }) => orderId)
  const reportsByOrder = Map.groupBy(reports, ({ orderId }) => orderId)
  return Promise.all(
    rows.map(async (row) => {
      const refundAnswers = (refundsByOrder.get(row.id) ?? []).map(async (refund) => {
        const reason = (await core.vault.open(row.userId, refund.reason)) ?? ''
        return refundAnswer(refund, reason, isAdmin)
      })
      const restored = restorationsByOrder.get(row.id) ?? []
      return {
        ...orderAnswer(row, isAdmin),
        refunds: await Promise.all(refundAnswers),
        restorations: restored.map((restoration) => restorationAnswer(restoration, isAdmin)),
        reports: (reportsByOrder.get(row.id) ?? []).map(reportAnswer),
      }
    }),
  )
}

type RelatedFields = 'refunds' | 'restorations' | 'reports'

const orderAnswer = (row: OrderRow, isAdmin: boolean): Omit<Order, RelatedFields> => ({
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
  status: row.refundedCents > 0n ? 'refunded' : row.status,
  payment_id: row.paymentId,
  refundable: moneyText(row.status === 'paid' ? row.cents - row.refundedCents : 0n),
  refunded: moneyText(row.refundedCents),
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
  source: row.source,
  source_id: isAdmin ? row.sourceId : '',
  created_at: row.createdAt,
})

const restorationAnswer = (row: RestorationRow, isAdmin: boolean): Restoration => ({
  money: moneyText(row.cents),
  quota: toWire(row.quota),
  source: row.source,
  source_id: isAdmin ? row.sourceId : '',
  created_at: row.createdAt,
})

const reportAnswer = (row: ReportRow): PaymentReport => ({
  kind: row.kind,
  report_id: row.reportId,
  money: moneyText(row.cents),
  status: row.status,
  reason: row.reason,
  due_by: row.dueBy,
  is_withdrawn: row.isWithdrawn,
  is_reinstated: row.isReinstated,
  created_at: row.createdAt,
})

const moneyText = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

/** `GET /api/user/topup/self` and, for admins, `/api/user/topup`: the orders, newest first. */
export function listOrderRows(app: App, deps: ReadDeps): void {
  const fresh = upToDate(deps, 'orders', 'users')
  app.route({
    ...endpoint(orderQueries, 'GET /api/user/topup/self'),
    onRequest: onlyUser,
    preHandler: fresh,
    handler: async (request) =>
      success(await answer(deps, request.query, principalOf(request).userId)),
  })
  app.route({
    ...endpoint(orderQueries, 'GET /api/user/topup'),
    onRequest: onlyAdmin,
    preHandler: fresh,
    handler: async (request) => success(await answer(deps, request.query, null)),
  })
}

async function answer(
  deps: ReadDeps,
  query: Static<typeof OrderQuery>,
  userId: number | null,
): Promise<{ items: Order[]; page: number; total: number }> {
  const { page, limit, offset } = pageOf(query)
  const { rows, total } = await listOrders(deps.core.db, {
    userId,
    keyword: (query.keyword ?? '').trim(),
    state: query.status || null,
    ...orderOf(query),
    limit,
    offset,
  })
  const items = await orderAnswers(deps, rows, { isAdmin: userId === null })
  return { items, page, total }
}
