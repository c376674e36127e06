import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionIdOf, setSessionCookie } from './session-cookie.ts'
import { sessionHash } from './sessions.ts'

/** Starts a session under a new id; the one that the browser had is over. */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  user: { readonly id: number; readonly authVersion: number },
): Promise<void> {
  const { sessions } = request.server.gate
  const old = sessionIdOf(request)
  if (old !== null) await sessions.end(sessionHash(old))
  const from = { ip: request.ip, userAgent: request.headers['user-agent'] ?? '' }
  setSessionCookie(reply, await sessions.start(user.id, user.authVersion, from))
}
