import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/faults.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { type App, IdParams, type ReadParts, upToDate } from '../question.ts'
import { userAnswers } from './user-answer.ts'

/** `GET /api/user/{id}`, for admins. */
export function getUser(app: App, parts: ReadParts): void {
  app.get(
    '/api/user/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(User) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(parts, 'users', 'balances'),
    },
    async ({ params }) => {
      const row = await findUser(parts.core.db, Number(params.id))
      const [user] = row === null ? [] : await userAnswers(parts, [row])
      if (user === undefined) throw notFound({ zh: '用户不存在', en: 'No such user' })
      return success(user)
    },
  )
}
