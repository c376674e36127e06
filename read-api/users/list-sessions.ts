import Type from 'typebox'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import { OwnSession } from '../contract/security.ts'
import type { App } from '../question.ts'

/** `GET /api/user/sessions`: one's own sessions, the one last seen first. */
export function listSessions(app: App): void {
  app.get(
    '/api/user/sessions',
    {
      schema: { response: { 200: Envelope(Type.Array(OwnSession)) } },
      onRequest: onlySession,
    },
    async (request) => {
      const { userId, authVersion, sessionHash } = principalOf(request)
      const sessions = await request.server.gate.sessions.listOf(userId, authVersion)
      return success(
        sessions.map(({ id, hash, ip, userAgent, startedAt, seenAt }) => ({
          id,
          ip,
          user_agent: userAgent,
          started_at: Math.floor(startedAt / 1_000),
          seen_at: Math.floor(seenAt / 1_000),
          is_current: hash === sessionHash,
        })),
      )
    },
  )
}
