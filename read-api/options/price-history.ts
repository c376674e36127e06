import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { priceChanges } from '#projections/price-history/query.ts'
import { plannedChanges } from '#projections/price-schedule/query.ts'
import { optionQueries, PRICE_CHANGE_FIELDS, SCHEDULED_CHANGE_FIELDS } from '../contract/options.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import { type App, pageOf, type ReadDeps, upToDate, userIdOf } from '../read-route-helpers.ts'

/**
 * `GET /api/option/price_history`: the changes of prices. Each entry has the price before and after
 * the change, the user who made it, and the time.
 */
export function priceHistory(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_history'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'price-history', 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const { model = '', group = '' } = query
      const keyword = (query.keyword ?? '').trim()
      const found = await priceChanges(deps.core.db, { model, keyword, group, limit, offset })
      const items = found.rows.map((row) =>
        responseOf(PRICE_CHANGE_FIELDS, { ...row, userId: userIdOf(row.actor) ?? 0 }),
      )
      return success({ items, page, total: found.total })
    },
  })
}

/**
 * `GET /api/option/price_schedule`: the scheduled price changes. Those that are still to come are
 * first.
 */
export function priceSchedule(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_schedule'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const { rows, total } = await plannedChanges(deps.core.db, { limit, offset })
      const items = rows.map((row) => ({
        ...responseOf(SCHEDULED_CHANGE_FIELDS, row),
        changes: row.changes,
      }))
      return success({ items, page, total })
    },
  })
}
