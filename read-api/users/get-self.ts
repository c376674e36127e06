import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { type App, type ReadParts, upToDate } from '../question.ts'
import { userAnswers } from './user-answer.ts'

/** `GET /api/user/self`: one's own user and balance. */
export function getSelf(app: App, parts: ReadParts): void {
  app.get(
    '/api/user/self',
    {
      schema: { response: { 200: Envelope(User) } },
      preHandler: [onlyUser, upToDate(parts, 'users', 'balances')],
    },
    async (request) => {
      const row = await findUser(parts.core.db, principalOf(request).userId)
      const [user] = row === null ? [] : await userAnswers(parts, [row])
      if (user === undefined) throw fault('NotLoggedIn')
      return success(user)
    },
  )
}
