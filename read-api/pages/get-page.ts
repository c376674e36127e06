import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { statusQueries } from '../contract/status.ts'
import { currentOptions } from '../options/list-options.ts'
import { type App, type ReadDeps, upToDate } from '../read-route-helpers.ts'

const PAGES = [
  ['GET /api/notice', 'Notice'],
  ['GET /api/about', 'About'],
  ['GET /api/home_page_content', 'HomePageContent'],
] as const

/**
 * `GET /api/notice`, `GET /api/about` and `GET /api/home_page_content`: the public pages that the
 * operator has written.
 */
export function getPages(app: App, deps: ReadDeps): void {
  for (const [name, option] of PAGES) {
    app.route({
      ...endpoint(statusQueries, name),
      preHandler: upToDate(deps, 'options'),
      handler: async () => success((await currentOptions(deps.core)).text(option)),
    })
  }
}
