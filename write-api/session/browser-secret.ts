import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A cookie that tells a browser from others before anybody has a session there. */
export type BrowserCookie = {
  readonly name: string
  /** Where it is sent to. */
  readonly path: string
  /** How long after the last time it was given. */
  readonly seconds: number
}

/** What is kept of this browser, which gets its cookie; the same for all tabs under way. */
export function markBrowser(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, path, seconds }: BrowserCookie,
): string {
  const known = request.cookies[name] ?? ''
  const secret = /^[\w-]{43}$/.test(known) ? known : randomBytes(32).toString('base64url')
  reply.setCookie(name, secret, {
    path,
    httpOnly: true,
    sameSite: 'lax',
    secure: request.protocol === 'https',
    maxAge: seconds,
  })
  return hash(secret)
}

/** Whether it is the browser that this was kept of. */
export function isBrowser(kept: string, request: FastifyRequest, { name }: BrowserCookie): boolean {
  const given = hash(request.cookies[name] ?? '')
  return kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given))
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
