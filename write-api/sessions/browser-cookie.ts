import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A cookie that identifies a browser before it has a session. */
export type BrowserCookie = {
  readonly name: string
  /** The path that the browser sends it to. */
  readonly path: string
  /** The lifetime, counted from the last time it was set. */
  readonly seconds: number
}

/**
 * Returns the hash of the browser's secret, for the server to store. A browser without the cookie
 * gets one; all its tabs share it, so parallel flows do not invalidate each other.
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

/** Returns whether the request comes from the browser that `storedHash` belongs to. */
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
