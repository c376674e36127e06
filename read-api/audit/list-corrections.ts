import { CORRECTIONS_STREAM, correctionsDecider } from '#domain/corrections/events.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { NOTHING_APPLIED, sumsOfCorrections } from '#projections/corrected-calls/query.ts'
import { usernamesByIds } from '#projections/users/query.ts'
import { correctionQueries } from '../contract/corrections.ts'
import { type App, integerOf, type ReadDeps, upToDate } from '../read-route-helpers.ts'

const PAGE_SIZE = 50

/** `GET /api/audit/corrections`: corrections of charges, newest first. */
export function listCorrections(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(correctionQueries, 'GET /api/audit/corrections'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'corrected-calls', 'users'),
    handler: async ({ query }) => {
      const { corrections } = await core.actors.peek(correctionsDecider, CORRECTIONS_STREAM)
      // The cursor is the number of corrections that are older than the page.
      const end = Math.min(integerOf(query.cursor) ?? corrections.length, corrections.length)
      const start = Math.max(0, end - Number(query.limit ?? PAGE_SIZE))
      const page = corrections.slice(start, end).reverse()
      const [names, applied] = await Promise.all([
        usernamesByIds(
          core.db,
          page.map(({ requestedBy }) => requestedBy),
        ),
        sumsOfCorrections(
          core.db,
          page.map(({ id }) => id),
        ),
      ])
      const items = await Promise.all(
        page.map(async ({ id, scope, planned, note, requestedBy, ...course }) => {
          const { startedAt, finishedAt, failed = [] } = course
          const { model, group, from, to, price } = scope
          const preview = Buffer.from(JSON.stringify({ id, scope })).toString('base64url')
          return {
            ...{ id, model, group, from, to, price: { ...price }, ...planned },
            applied: applied.get(id) ?? NOTHING_APPLIED,
            reason: (await core.vault.open(requestedBy, note)) ?? '',
            requested_by: requestedBy,
            requested_by_name: names.get(requestedBy) ?? '',
            started_at: Math.floor(startedAt / 1_000),
            finished_at: finishedAt === null ? null : Math.floor(finishedAt / 1_000),
            failed: failed.map(({ userId, calls, code }) => ({ user_id: userId, calls, code })),
            preview: finishedAt === null ? preview : null,
          }
        }),
      )
      return success({ items, next_cursor: start === 0 ? null : String(start) })
    },
  })
}
