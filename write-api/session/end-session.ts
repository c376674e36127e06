import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/faults.ts'
import type { Act } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'

/** DELETE /api/user/sessions/:id: one of the own sessions is over, its open socket too. */
export const endSession: Act = (api) => {
  api.delete(
    '/api/user/sessions/:id',
    {
      onRequest: onlySession,
      schema: { summary: 'End one of the own sessions', params: IdParams, response: { 200: Done } },
    },
    async (request) => {
      const { sessions } = request.server.gate
      const { userId } = principalOf(request)
      if (!(await sessions.endOne(userId, idOf(request.params)))) {
        throw notFound({ zh: '会话不存在', en: 'No such session' })
      }
      return done()
    },
  )
}
