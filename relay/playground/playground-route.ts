import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { HttpError } from '#infra/http/http-errors.ts'
import { refuseCrossSite } from '#infra/http/origin-checks.ts'
import type { Principal } from '#infra/http/principal.ts'
import type { Sessions } from '#infra/http/sessions.ts'
import {
  isRelayError,
  type RelayError,
  type RelayErrorCode,
  relayError,
} from '../canonical/relay-error.ts'
import type { PlaygroundSession } from './playground-request.ts'

/** `call` runs a call of the session's user, and `reject` sends an error. */
export type Playground = {
  readonly call: (
    request: IncomingMessage,
    response: ServerResponse,
    session: PlaygroundSession,
  ) => void
  readonly reject: (request: IncomingMessage, response: ServerResponse, error: RelayError) => void
}

const ERROR_CODES: Readonly<Record<string, RelayErrorCode>> = {
  NotLoggedIn: 'not_logged_in',
  SessionRequired: 'session_required',
  PasswordNotOwn: 'password_not_own',
  CrossSite: 'cross_site',
}

/**
 * Serves `POST /pg/chat/completions` for chats from the console. Fastify is only used to identify
 * the user by the session. The relay handles the raw request and response.
 */
export function addPlayground(app: FastifyInstance, { call, reject }: Playground): void {
  app.route({
    method: 'POST',
    url: '/pg/chat/completions',
    onRequest: async (request, reply) => {
      const caller = await callerOf(request, reply)
      reply.hijack()
      if (isRelayError(caller)) return reject(request.raw, reply.raw, caller)
      const { userId, sessionHash } = caller
      const hasEnded = sessionEndCheck(app.gate.sessions, sessionHash ?? '', request.log)
      call(request.raw, reply.raw, { userId, hasEnded })
    },
    handler: async () => {
      throw new Error('the relay has taken over the request')
    },
  })
}

/**
 * Returns a function that tells whether the session has ended. Each check starts a query. Its
 * result takes effect with a later check.
 */
function sessionEndCheck(
  sessions: Pick<Sessions, 'live'>,
  sessionHash: string,
  log: FastifyBaseLogger,
): () => boolean {
  let hasEnded = false
  let isChecking = false
  const check = async (): Promise<void> => {
    isChecking = true
    try {
      hasEnded = !(await sessions.live([sessionHash])).has(sessionHash)
    } catch (err) {
      log.warn({ err }, 'the session of a playground call could not be checked')
    } finally {
      isChecking = false
    }
  }
  return () => {
    if (!hasEnded && !isChecking) void check()
    return hasEnded
  }
}

/** Returns the session's principal, or an error if the session identifies no user. */
async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal | RelayError> {
  try {
    refuseCrossSite(request)
    await onlySession(request, reply)
    return principalOf(request)
  } catch (err) {
    const code = err instanceof HttpError ? ERROR_CODES[err.code] : undefined
    if (code !== undefined) return relayError(code)
    request.log.error({ err }, 'the user of the playground could not be identified')
    return relayError('store_unavailable', { retryAfter: 5 })
  }
}
