import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { plannedChanges } from '#projections/price-schedule/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { ScheduledChange } from '../contract/option.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'

/** `GET /api/option/price_schedule`: price changes that wait, then those that are over. */
export function priceSchedule(app: App, deps: ReadDeps): void {
  app.get(
    '/api/option/price_schedule',
    {
      schema: {
        querystring: Type.Object(Query.page),
        response: { 200: Envelope(Page(ScheduledChange)) },
      },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'price-schedule', 'users'),
    },
    async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const { rows, total } = await plannedChanges(deps.core.db, { limit, offset })
      const items = rows.map(
        ({ id, dueAt, madeAt, username, changes, status, endedAt, fault }) => ({
          id,
          at: dueAt,
          created_time: madeAt,
          username,
          status,
          ended_time: endedAt ?? 0,
          fault,
          changes,
        }),
      )
      return success({ items, page, total })
    },
  )
}
