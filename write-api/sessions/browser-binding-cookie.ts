import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * A cookie that identifies a browser, with or without a session. It binds an OAuth state or a
 * mailed code to the browser that requested it.
 */
export type BrowserCookie = {
  readonly name: string
  readonly path: string
  /**
   * The lifetime of the cookie in seconds. The lifetime starts again with each response that sets
   * the cookie.
   */
  readonly seconds: number
}

/**
 * Sets a cookie with a secret. If the browser already has such a cookie, the cookie keeps its
 * secret and only its lifetime starts again. Returns the secret's hash. The server stores only this
 * hash. All tabs of a browser share the secret, so that logins in two tabs do not invalidate each
 * other.
 */
export function issueBrowserCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, path, seconds }: BrowserCookie,
): string {
  const existing = request.cookies[name] ?? ''
  const secret = /^[\w-]{43}$/.test(existing) ? existing : randomBytes(32).toString('base64url')
  reply.setCookie(name, secret, {
    path,
    httpOnly: true,
    sameSite: 'lax',
    secure: request.protocol === 'https',
    maxAge: seconds,
  })
  return hash(secret)
}

/**
 * Reports whether the request comes from the browser for which `issueBrowserCookie` returned this
 * hash.
 */
export function isSameBrowser(
  storedHash: string,
  request: FastifyRequest,
  { name }: BrowserCookie,
): boolean {
  const requestHash = hash(request.cookies[name] ?? '')
  return (
    storedHash.length === requestHash.length &&
    timingSafeEqual(Buffer.from(storedHash), Buffer.from(requestHash))
  )
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
