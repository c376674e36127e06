import Type from 'typebox'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import { optionsInForce } from '../options/list-options.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

const PAGES = {
  '/api/notice': ['Notice', 'The notice to everybody, Markdown or HTML; empty for none'],
  '/api/about': ['About', 'The about page, Markdown or HTML; empty for the default one'],
  '/api/home_page_content': ['HomePageContent', 'The home page; empty for the default one'],
} as const

/** `GET /api/notice`, `about` and `home_page_content`: the operator's own pages, for anybody. */
export function getPages(app: App, deps: ReadDeps): void {
  for (const [path, [option, summary]] of Object.entries(PAGES)) {
    app.get(
      path,
      {
        schema: { summary, response: { 200: Envelope(Type.String()) } },
        preHandler: upToDate(deps, 'options'),
      },
      async () => success((await optionsInForce(deps.core)).text(option)),
    )
  }
}
