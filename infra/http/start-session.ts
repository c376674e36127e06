import type { FastifyReply, FastifyRequest } from 'fastify'
import { rememberDevice } from './device-cookie.ts'
import { sessionIdOf, setSessionCookie } from './session-cookie.ts'
import { sessionHash } from './sessions.ts'

/**
 * Starts a session under a new id; the one that the browser had is over. The browser is known to
 * the account from then on.
 */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  user: { readonly id: number; readonly authVersion: number },
  isByTemporaryPassword = false,
): Promise<void> {
  const { sessions } = request.server.gate
  const old = sessionIdOf(request)
  if (old !== null) await sessions.end(sessionHash(old))
  const userAgent = request.headers['user-agent'] ?? ''
  const from = { ip: request.ip, userAgent, isByTemporaryPassword }
  setSessionCookie(reply, await sessions.start(user.id, user.authVersion, from))
  rememberDevice(request, reply, user)
}
