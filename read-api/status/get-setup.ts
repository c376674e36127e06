import { success } from '#infra/http/envelope.ts'
import { siteState } from '#projections/options/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { SetupStatus } from '../contract/status.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

/** `GET /api/setup`: whether the first-run screen has been completed. */
export function getSetup(app: App, deps: ReadDeps): void {
  app.get(
    '/api/setup',
    {
      schema: { response: { 200: Envelope(SetupStatus) } },
      preHandler: upToDate(deps, 'options'),
    },
    async () => {
      const isInitialised = (await siteState(deps.core.db)).rootUserId !== null
      return success({
        status: isInitialised,
        root_init: isInitialised,
        database_type: 'postgres',
      })
    },
  )
}
