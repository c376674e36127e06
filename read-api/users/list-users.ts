import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listUsers } from '#projections/users/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'
import { changeableUsers } from './user-answer.ts'

const SearchUsers = Type.Object({ ...Query.page, keyword: Query.text, group: Query.text })

/** `GET /api/user/` and `/api/user/search`, for admins: newest first, deactivated ones included. */
export function listUserRows(app: App, deps: ReadDeps): void {
  for (const path of ['/api/user/', '/api/user/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchUsers, response: { 200: Envelope(Page(User)) } },
        onRequest: onlyAdmin,
        preHandler: upToDate(deps, 'users', 'balances'),
      },
      async (request) => {
        const { query } = request
        const { page, limit, offset } = pageOf(query)
        const { keyword = '', group = '' } = query
        const { rows, total } = await listUsers(deps.core.db, { keyword, group, limit, offset })
        const items = await changeableUsers(deps, request, rows)
        return success({ items, page, total })
      },
    )
  }
}
