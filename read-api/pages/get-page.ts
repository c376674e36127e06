import Type from 'typebox'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import { currentOptions } from '../options/list-options.ts'
import { type App, type ReadDeps, upToDate } from '../route.ts'

const PAGES = {
  '/api/notice': ['Notice', 'Get the notice, Markdown or HTML; empty for none'],
  '/api/about': ['About', 'Get the about page, Markdown or HTML; empty for the default one'],
  '/api/home_page_content': ['HomePageContent', 'Get the home page; empty for the default one'],
} as const

/** `GET /api/notice`, `about` and `home_page_content`: the operator's pages, for everybody. */
export function getPages(app: App, deps: ReadDeps): void {
  for (const [path, [option, summary]] of Object.entries(PAGES)) {
    app.get(
      path,
      {
        schema: { summary, response: { 200: Envelope(Type.String()) } },
        preHandler: upToDate(deps, 'options'),
      },
      async () => success((await currentOptions(deps.core)).text(option)),
    )
  }
}
