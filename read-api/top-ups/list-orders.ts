import type { Static } from 'typebox'
import type { Sealed } from '#domain/shared/event.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  listOrders,
  type OrderRow,
  refundsOf,
  reportsOf,
  restorationsOf,
} from '#projections/top-ups/query.ts'
import { openValues, responseOf } from '../contract/resource-field-definition.ts'
import {
  ORDER_FIELDS,
  type Order,
  type OrderQuery,
  orderQueries,
  REFUND_FIELDS,
  REPORT_FIELDS,
  RESTORATION_FIELDS,
} from '../contract/top-ups.ts'
import {
  type App,
  orderOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

/**
 * Converts orders to a response. Only admins see who made a refund, the provider's ids of refunds
 * and disputes, the rebate of the inviting user, and the reports of the payment provider.
 */
async function orderResponses(
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
      const open = (text: Sealed) => core.vault.open(row.userId, text)
      const refundResponses = (refundsByOrder.get(row.id) ?? []).map(async (refund) => {
        const response = responseOf(REFUND_FIELDS, await openValues(REFUND_FIELDS, refund, open))
        return isAdmin ? response : { ...response, actor_id: 0, actor_name: '', source_id: '' }
      })
      const restored = (restorationsByOrder.get(row.id) ?? []).map((restoration) =>
        responseOf(RESTORATION_FIELDS, isAdmin ? restoration : { ...restoration, sourceId: '' }),
      )
      return {
        ...responseOf(ORDER_FIELDS, isAdmin ? row : { ...row, rebateQuota: 0 }),
        refunds: await Promise.all(refundResponses),
        restorations: restored,
        reports: (reportsByOrder.get(row.id) ?? []).map((row) => responseOf(REPORT_FIELDS, row)),
      }
    }),
  )
}

/**
 * `GET /api/user/topup/self`: the caller's orders, by default newest first. `GET /api/user/topup`,
 * for admins: the orders of all users.
 */
export function listOrderRows(app: App, deps: ReadDeps): void {
  const fresh = upToDate(deps, 'orders', 'users')
  app.route({
    ...endpoint(orderQueries, 'GET /api/user/topup/self'),
    onRequest: onlyUser,
    preHandler: fresh,
    handler: async (request) =>
      success(await respond(deps, request.query, principalOf(request).userId)),
  })
  app.route({
    ...endpoint(orderQueries, 'GET /api/user/topup'),
    onRequest: onlyAdmin,
    preHandler: fresh,
    handler: async (request) => success(await respond(deps, request.query, null)),
  })
}

async function respond(
  deps: ReadDeps,
  query: Static<typeof OrderQuery>,
  userId: number | null,
): Promise<{ items: Order[]; page: number; total: number }> {
  const { page, ...slice } = pageOf(query)
  const { rows, total } = await listOrders(deps.core.db, {
    userId,
    keyword: (query.keyword ?? '').trim(),
    state: query.status || null,
    ...orderOf(query),
    ...slice,
  })
  const items = await orderResponses(deps, rows, { isAdmin: userId === null })
  return { items, page, total }
}
