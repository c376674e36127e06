import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionHash } from './sessions.ts'

const NAME = 'session'

export const sessionIdOf = (request: FastifyRequest): string | null => request.cookies[NAME] ?? null

/**
 * Sets the session cookie. The cookie lasts until the browser is closed, and the server limits the
 * lifetime of the session.
 */
export function setSessionCookie(reply: FastifyReply, id: string): void {
  reply.setCookie(NAME, id, attributesFor(reply.request))
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(NAME, attributesFor(reply.request))
}

// NOTE: SameSite is Lax, because an OAuth provider navigates the user back from another site.
const attributesFor = (request: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' }) as const

/** A user. `authVersion` increases when the password or role changes. */
type Account = { readonly id: number; readonly authVersion: number }

const PATH = '/api/user'
const SECONDS = 180 * 86_400
const FORMAT = /^([\w-]{22})\.([0-9a-f]{64})$/

const nameOf = ({ id }: Pick<Account, 'id'>): string => `device_${id}`

/**
 * Sets a signed cookie for a browser that has logged in to this account. The cookie outlives the
 * session and does not authenticate. Login attempts of this browser are counted separately, so that
 * somebody who guesses passwords elsewhere does not block this browser.
 */
function rememberDevice(request: FastifyRequest, reply: FastifyReply, account: Account): void {
  const id = knownDevice(request, account) ?? randomBytes(16).toString('base64url')
  reply.setCookie(nameOf(account), `${id}.${signatureOf(request, account, id)}`, {
    path: PATH,
    httpOnly: true,
    sameSite: 'lax',
    secure: request.protocol === 'https',
    maxAge: SECONDS,
  })
}

/**
 * Returns the id of a browser that has logged in to this account with its present `authVersion`;
 * null for any other browser.
 */
export function knownDevice(request: FastifyRequest, account: Account): string | null {
  const [, id, signature = ''] = FORMAT.exec(request.cookies[nameOf(account)] ?? '') ?? []
  if (id === undefined) return null
  const expected = signatureOf(request, account, id)
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? id : null
}

const signatureOf = (
  { server }: FastifyRequest,
  { id: userId, authVersion }: Account,
  id: string,
): string => server.gate.keyedHash('device', `${userId}.${authVersion}.${id}`)

/**
 * Ends the browser's session, starts a new one, and sets the cookie that identifies the browser.
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
