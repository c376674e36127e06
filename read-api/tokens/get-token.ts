import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/faults.ts'
import { findToken } from '#projections/tokens/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { Token } from '../contract/token.ts'
import { type App, IdParams, type ReadDeps, upToDate } from '../question.ts'
import { ownTokenAnswers } from './token-answer.ts'

/** `GET /api/token/{id}`: one's own; another user's looks like none. */
export function getToken(app: App, deps: ReadDeps): void {
  app.get(
    '/api/token/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(Token) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'tokens', 'balances'),
    },
    async (request) => {
      const row = await findToken(deps.core.db, Number(request.params.id))
      const principal = principalOf(request)
      const isOwn = row?.userId === principal.userId && !row.isDeleted
      const [token] = isOwn && row !== null ? await ownTokenAnswers(deps, principal, [row]) : []
      if (token === undefined) throw notFound({ zh: '令牌不存在', en: 'No such token' })
      return success(token)
    },
  )
}
