import Type, { type Static } from 'typebox'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listOrders, ORDER_STATES, type OrderState } from '#projections/orders/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { Order } from '../contract/top-up.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'
import { orderAnswers } from './order-answer.ts'

const OrderQuery = Type.Object({
  ...Query.page,
  keyword: Query.text,
  status: Type.Optional(Type.Union([...ORDER_STATES, ''].map((name) => Type.Literal(name)))),
})

/** `GET /api/user/topup/self` and, for admins, `/api/user/topup`: orders, newest first. */
export function listOrderRows(app: App, deps: ReadDeps): void {
  const response = { 200: Envelope(Page(Order)) }
  const schema = { querystring: OrderQuery, response }
  const fresh = upToDate(deps, 'orders', 'users')
  app.get(
    '/api/user/topup/self',
    { schema, onRequest: onlyUser, preHandler: fresh },
    async (request) => {
      const { userId } = principalOf(request)
      return success(await answer(deps, request.query, userId))
    },
  )
  app.get('/api/user/topup', { schema, onRequest: onlyAdmin, preHandler: fresh }, async (request) =>
    success(await answer(deps, request.query, null)),
  )
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
    state: (query.status || null) as OrderState | null,
    limit,
    offset,
  })
  const items = await orderAnswers(deps, rows, { isAdmin: userId === null })
  return { items, page, total }
}
