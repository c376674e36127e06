import { onlySession, principalOf, sessionOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import type { Act } from '../act.ts'

/** DELETE /api/user/sessions: every own session but this one is over. */
export const endOtherSessions: Act = (api) => {
  api.delete(
    '/api/user/sessions',
    {
      onRequest: onlySession,
      schema: { summary: 'End all other own sessions', response: { 200: Done } },
    },
    async (request) => {
      const { sessions } = request.server.gate
      await sessions.endAllOf(principalOf(request).userId, sessionOf(request))
      return done()
    },
  )
}
