import type { FastifyRequest } from 'fastify'
import { loginsStream, type SessionsEnded } from '#domain/credentials/events.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import {
  onlySession,
  onlySessionOfAnyPassword,
  principalOf,
  sessionOf,
} from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { clearSessionCookie } from '#infra/http/session-and-device-cookies.ts'
import { type Action, contextOf, type Deps, idOf } from '../action.ts'
import { loginActions } from '../contract/login.ts'

/**
 * GET (used by the console) and POST /api/user/logout: ends the session of the request. After that,
 * all processes reject this session.
 */
export const logout: Action = (api, deps) => {
  for (const name of ['GET /api/user/logout', 'POST /api/user/logout'] as const) {
    api.route({
      ...endpoint(loginActions, name),
      onRequest: onlySessionOfAnyPassword,
      handler: async (request, reply) => {
        await request.server.gate.sessions.end(sessionOf(request))
        clearSessionCookie(reply)
        await recordEnd(deps, request, 'current')
        return done()
      },
    })
  }
}

/**
 * DELETE /api/user/sessions/:id: ends one of the caller's sessions. The WebSocket connections of
 * the session are closed soon afterwards.
 */
export const endSession: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'DELETE /api/user/sessions/:id'),
    onRequest: onlySession,
    handler: async (request) => {
      const { sessions } = request.server.gate
      const { userId } = principalOf(request)
      if (!(await sessions.endOne(userId, idOf(request.params)))) {
        throw notFound('session')
      }
      await recordEnd(deps, request, 'one')
      return done()
    },
  })
}

/** DELETE /api/user/sessions: ends all sessions of the caller, except the current one. */
export const endOtherSessions: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'DELETE /api/user/sessions'),
    onRequest: onlySession,
    handler: async (request) => {
      const { sessions } = request.server.gate
      const count = await sessions.endAllOf(principalOf(request).userId, sessionOf(request))
      if (count > 0) await recordEnd(deps, request, 'others', count)
      return done()
    },
  })
}

/**
 * Appends an event about ended sessions. A failure of the append is only logged, because a user
 * must be able to end sessions at any time.
 */
async function recordEnd(
  deps: Deps,
  request: FastifyRequest,
  which: SessionsEnded['data']['which'],
  count = 1,
): Promise<void> {
  const { store, log } = deps.core
  const { userId } = principalOf(request)
  const event: SessionsEnded = { type: 'SessionsEnded', v: 1, data: { userId, which, count } }
  const events = newEvents([event], contextOf(deps, request))
  try {
    await store.append([{ stream: loginsStream(userId), expected: 'any', events }])
  } catch (err) {
    log.warn({ err }, 'the end of sessions could not be recorded')
  }
}
