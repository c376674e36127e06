import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A cookie that identifies a browser before a session exists. */
export type BrowserCookie = {
  readonly name: string
  readonly path: string
  /** The lifetime in seconds, which starts again with each response that sets the cookie. */
  readonly seconds: number
}

/**
 * Returns the hash of the secret in the browser's cookie, which is created if necessary. The server
 * stores only the hash. All tabs share the secret, so that parallel logins do not invalidate each
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

/** Returns whether the request comes from the browser with this hash (see `issueBrowserCookie`). */
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
