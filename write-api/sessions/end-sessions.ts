import {
  onlySession,
  onlySessionOfAnyPassword,
  principalOf,
  sessionOf,
} from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-errors.ts'
import { done } from '#infra/http/response-envelope.ts'
import { clearSessionCookie } from '#infra/http/session-cookie.ts'
import { type Action, idOf } from '../action.ts'
import { loginActions } from '../contract/login.ts'

/**
 * GET (used by the console) and POST /api/user/logout: ends the session. All processes reject it
 * from then on.
 */
export const logout: Action = (api) => {
  for (const name of ['GET /api/user/logout', 'POST /api/user/logout'] as const) {
    api.route({
      ...endpoint(loginActions, name),
      onRequest: onlySessionOfAnyPassword,
      handler: async (request, reply) => {
        await request.server.gate.sessions.end(sessionOf(request))
        clearSessionCookie(reply)
        return done()
      },
    })
  }
}

/**
 * DELETE /api/user/sessions/:id: ends one of the caller's sessions and closes its WebSocket
 * connections.
 */
export const endSession: Action = (api) => {
  api.route({
    ...endpoint(loginActions, 'DELETE /api/user/sessions/:id'),
    onRequest: onlySession,
    handler: async (request) => {
      const { sessions } = request.server.gate
      const { userId } = principalOf(request)
      if (!(await sessions.endOne(userId, idOf(request.params)))) {
        throw notFound('session')
      }
      return done()
    },
  })
}

/** DELETE /api/user/sessions: ends all sessions of the caller, except the current one. */
export const endOtherSessions: Action = (api) => {
  api.route({
    ...endpoint(loginActions, 'DELETE /api/user/sessions'),
    onRequest: onlySession,
    handler: async (request) => {
      const { sessions } = request.server.gate
      await sessions.endAllOf(principalOf(request).userId, sessionOf(request))
      return done()
    },
  })
}
