import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listTokens, TOKEN_SORTS, type TokenSort } from '#projections/tokens/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { Token } from '../contract/token.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'
import { idsByKey } from './ids-by-key.ts'
import { ownTokenAnswers } from './token-answer.ts'

const SearchTokens = Type.Object({
  ...Query.page,
  keyword: Query.text,
  token: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-4]?$' })),
  sort: Type.Optional(Type.Union([...TOKEN_SORTS, ''].map((name) => Type.Literal(name)))),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc'), Type.Literal('')])),
})

/** `GET /api/token/` and `/api/token/search`: one's own tokens, newest first unless sorted. */
export function listTokenRows(app: App, deps: ReadDeps): void {
  for (const path of ['/api/token/', '/api/token/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchTokens, response: { 200: Envelope(Page(Token)) } },
        onRequest: onlyUser,
        preHandler: upToDate(deps, 'tokens', 'balances'),
      },
      async (request) => {
        const { query } = request
        const principal = principalOf(request)
        const { userId } = principal
        const { page, limit, offset } = pageOf(query)
        const { rows, total } = await listTokens(deps.core.db, {
          userId,
          keyword: query.keyword ?? '',
          ids: query.token ? await idsByKey(deps, principal, query.token) : null,
          status: query.status ? Number(query.status) : null,
          sort: (query.sort || 'id') as TokenSort,
          isDescending: query.order !== 'asc',
          now: Math.floor(deps.core.now() / 1_000),
          limit,
          offset,
        })
        return success({ items: await ownTokenAnswers(deps, principal, rows), page, total })
      },
    )
  }
}
