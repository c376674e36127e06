import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/faults.ts'
import { credentialsOf, passkeysOf } from '#projections/credentials/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { type App, IdParams, type ReadDeps, upToDate } from '../question.ts'
import { changeableUsers } from './user-answer.ts'

/** `GET /api/user/{id}`, for admins. */
export function getUser(app: App, deps: ReadDeps): void {
  app.get(
    '/api/user/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(User) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'users', 'balances', 'credentials'),
    },
    async (request) => {
      const row = await findUser(deps.core.db, Number(request.params.id))
      const [user] = row === null ? [] : await changeableUsers(deps, request, [row])
      if (user === undefined) throw notFound({ zh: '用户不存在', en: 'No such user' })
      return success({ ...user, has_second_factor: await hasSecondFactor(deps, user.id) })
    },
  )
}

async function hasSecondFactor({ core }: ReadDeps, userId: number): Promise<boolean> {
  const [own, passkeys] = await Promise.all([
    credentialsOf(core.db, userId),
    passkeysOf(core.db, userId),
  ])
  return own?.totpSince != null || passkeys.length > 0
}
