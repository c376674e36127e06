import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { rejectCrossSite } from '#infra/http/origin-checks.ts'
import type { Principal } from '#infra/http/principal.ts'
import { type WatchedSession, watchSessions } from '#infra/http/session-watch.ts'
import {
  isRelayError,
  type RelayError,
  type RelayErrorCode,
  relayError,
} from '../canonical/relay-error.ts'
import type { PlaygroundSession } from './playground-request.ts'

/**
 * Handles chat requests from the console. `call` runs the call for the session's user, and `reject`
 * sends an error.
 */
export type Playground = {
  readonly call: (
    request: IncomingMessage,
    response: ServerResponse,
    session: PlaygroundSession,
  ) => void
  readonly reject: (request: IncomingMessage, response: ServerResponse, error: RelayError) => void
}

const SESSION_CHECK_MS = 1_000

const ERROR_CODES: Readonly<Record<string, RelayErrorCode>> = {
  NotLoggedIn: 'not_logged_in',
  SessionRequired: 'session_required',
  PasswordNotOwn: 'password_not_own',
  CrossSite: 'cross_site',
}

/**
 * Adds the route `POST /pg/chat/completions` for chats from the console. Fastify identifies the
 * user by the session. Everything else is done by the relay, which handles the raw request and
 * response.
 */
export function addPlayground(app: FastifyInstance, { call, reject }: Playground): void {
  const open = new Set<WatchedSession>()
  const sessions = watchSessions(app, SESSION_CHECK_MS, () => open)
  app.addHook('onClose', async () => sessions.stop())
  app.route({
    method: 'POST',
    url: '/pg/chat/completions',
    onRequest: async (request, reply) => {
      const caller = await callerOf(request, reply)
      reply.hijack()
      if (isRelayError(caller)) return reject(request.raw, reply.raw, caller)
      let hasEnded = false
      const endSession = (): void => {
        hasEnded = true
      }
      const watched = { principal: caller, endSession }
      if (!reply.raw.closed) open.add(watched)
      sessions.start()
      reply.raw.once('close', () => open.delete(watched))
      call(request.raw, reply.raw, { userId: caller.userId, hasEnded: () => hasEnded })
    },
    handler: async () => {
      throw new Error('the relay has taken over the request')
    },
  })
}

/** Returns the user of the session, or an error if the request has no valid session. */
async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal | RelayError> {
  try {
    rejectCrossSite(request)
    await onlySession(request, reply)
    return principalOf(request)
  } catch (err) {
    const code = err instanceof HttpError ? ERROR_CODES[err.code] : undefined
    if (code !== undefined) return relayError(code)
    request.log.error({ err }, 'the user of the playground could not be identified')
    return relayError('store_unavailable', { retryAfter: 5 })
  }
}
