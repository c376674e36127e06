import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listTokens } from '#projections/tokens/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { Token } from '../contract/token.ts'
import { type App, pageOf, Query, type ReadParts, upToDate } from '../question.ts'
import { ownTokenAnswers } from './token-answer.ts'

const SearchTokens = Type.Object({ ...Query.page, keyword: Query.text, token: Query.text })

/** `GET /api/token/` and `/api/token/search`: one's own tokens, newest first. */
export function listTokenRows(app: App, parts: ReadParts): void {
  for (const path of ['/api/token/', '/api/token/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchTokens, response: { 200: Envelope(Page(Token)) } },
        preHandler: [onlyUser, upToDate(parts, 'tokens', 'balances')],
      },
      async (request) => {
        const { query } = request
        const { page, limit, offset } = pageOf(query)
        const { rows, total } = await listTokens(parts.core.db, {
          userId: principalOf(request).userId,
          keyword: query.keyword ?? '',
          key: keySought(parts, query.token ?? ''),
          limit,
          offset,
        })
        return success({ items: await ownTokenAnswers(parts, rows), page, total })
      },
    )
  }
}

/** Keys are kept encrypted: a whole key is found by its keyed hash, or one by its last four. */
function keySought({ core }: ReadParts, token: string) {
  if (token === '') return null
  const key = token.replace(/^sk-/, '')
  return { lookup: core.vault.keyedHash('token-key', key), hint: key }
}
