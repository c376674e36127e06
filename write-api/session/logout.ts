import { onlySessionOfAnyPassword, sessionOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { clearSessionCookie } from '#infra/http/session-cookie.ts'
import type { Act } from '../act.ts'

/** GET (as the console calls it) and POST /api/user/logout: the session is over everywhere. */
export const logout: Act = (api) => {
  for (const method of ['GET', 'POST'] as const) {
    api.route({
      method,
      url: '/api/user/logout',
      onRequest: onlySessionOfAnyPassword,
      schema: { summary: 'End this session', response: { 200: Done } },
      handler: async (request, reply) => {
        await request.server.gate.sessions.end(sessionOf(request))
        clearSessionCookie(reply)
        return done()
      },
    })
  }
}
