import type { FastifyReply, FastifyRequest } from 'fastify'

const NAME = 'session'

export const sessionIdOf = (request: FastifyRequest): string | null => request.cookies[NAME] ?? null

/** The cookie lasts as long as the browser; how long the session does is the server's affair. */
export function setSessionCookie(reply: FastifyReply, id: string): void {
  reply.setCookie(NAME, id, attributesFor(reply.request))
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(NAME, attributesFor(reply.request))
}

// NOTE: Lax, not Strict: the way back from an OAuth provider is a navigation from another site.
const attributesFor = (request: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' }) as const
