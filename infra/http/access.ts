import type { FastifyReply, FastifyRequest } from 'fastify'
import { ACTIVE, ADMIN, SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Vault } from '../vault/port.ts'
import { isAccessToken } from './access-token.ts'
import { httpError } from './http-errors.ts'
import { requireOwnOrigin } from './origin.ts'
import type { FindAccessToken, FindPrincipal, Principal } from './principal.ts'
import { sessionIdOf } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

/** What the checks below work with; `createHttpApp` puts it on the app. */
export type Gate = {
  readonly sessions: Sessions
  readonly findPrincipal: FindPrincipal
  readonly findAccessToken: FindAccessToken
  /** Signs what names a browser; see `session-cookie.ts`. */
  readonly keyedHash: Vault['keyedHash']
  /** Unix milliseconds. */
  readonly now: () => number
}

declare module 'fastify' {
  interface FastifyInstance {
    gate: Gate
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * onRequest, so that strangers are told nothing of what they ask: a valid session or access token
 * of the user that `User-Id` names; else 401.
 */
export const onlyUser: Check = async (request) => {
  await admit(request)
}

/** onRequest: as `onlyUser`, also where a temporary password is still to be changed: for that. */
export const onlyUserOfAnyPassword: Check = async (request) => {
  await admit(request, true)
}

export const onlySessionOfAnyPassword: Check = async (request) => {
  requireSession(await admit(request, true))
}

/** onRequest: as `onlyUser`, by a session: what an access token may not do answers it 403. */
export const onlySession: Check = async (request) => {
  requireSession(await admit(request))
}

/** onRequest: as `onlyUser`, and role 10 or above; else 403. */
export const onlyAdmin: Check = async (request) => atLeast(await admit(request), ADMIN)

/** onRequest: as `onlySession`, and role 10 or above; else 403. */
export const onlyAdminSession: Check = async (request) => {
  const principal = await admit(request)
  requireSession(principal)
  atLeast(principal, ADMIN)
}

/** onRequest: as `onlyUser`, and role 100; else 403. */
export const onlyRoot: Check = async (request) => atLeast(await admit(request), SUPER_ADMIN)

/** onRequest: as `onlySession`, and role 100; else 403. */
export const onlyRootSession: Check = async (request) => {
  const principal = await admit(request)
  requireSession(principal)
  atLeast(principal, SUPER_ADMIN)
}

/**
 * preValidation of a websocket route: session cookie and our own `Origin`, no temporary password.
 * A browser can't send `User-Id` with a socket.
 */
export const onlyOwnSocket: Check = async (request) => {
  requireOwnOrigin(request)
  request.principal = await principalNow(request)
  if (request.principal === null) throw httpError('NotLoggedIn')
  requireOwnPassword(request.principal)
}

/** The session that the request was made in. Only behind a check that lets sessions alone in. */
export function sessionOf(request: FastifyRequest): string {
  const { sessionHash } = principalOf(request)
  if (sessionHash === null) throw new Error(`${request.routeOptions.url}: not only for sessions`)
  return sessionHash
}

/** Who makes the request. Only behind one of the checks above; throws a bug elsewhere. */
export function principalOf(request: FastifyRequest): Principal {
  const { principal, routeOptions } = request
  if (principal === null) throw new Error(`${routeOptions.url}: no access check before this`)
  return principal
}

/** Whoever shows a token is known by that alone, whatever cookie comes along. */
async function principalShown(request: FastifyRequest): Promise<Principal | null> {
  const { authorization } = request.headers
  const [, token] = /^Bearer +(.+)$/i.exec(authorization ?? '') ?? []
  return token === undefined ? principalNow(request) : principalOfToken(request, token)
}

async function principalOfToken(request: FastifyRequest, token: string): Promise<Principal | null> {
  if (!isAccessToken(token)) return null
  const { findAccessToken, now } = request.server.gate
  const known = await findAccessToken(token)
  if (known === null || known.expiresAt * 1_000 <= now()) return null
  const by = { sessionHash: null, isByTemporaryPassword: false, provedAt: 0 }
  return principalFor(request, known, by)
}

/**
 * Whose session the request comes with, as of this moment; null once it ended or the user was
 * banned, or changed role or password. No access token counts.
 */
export async function principalNow(request: FastifyRequest): Promise<Principal | null> {
  const id = sessionIdOf(request)
  const session = id === null ? null : await request.server.gate.sessions.find(id)
  if (session === null) return null
  const { hash: sessionHash, isByTemporaryPassword, provedAt } = session
  return principalFor(request, session, { sessionHash, isByTemporaryPassword, provedAt })
}

async function principalFor(
  request: FastifyRequest,
  shown: { readonly userId: number; readonly authVersion: number },
  by: Pick<Principal, 'sessionHash' | 'isByTemporaryPassword' | 'provedAt'>,
): Promise<Principal | null> {
  const user = await request.server.gate.findPrincipal(shown.userId)
  if (user === null || user.isDeleted || user.status !== ACTIVE) return null
  if (user.authVersion !== shown.authVersion) return null
  const { username, role, status, group, authVersion } = user
  return { userId: user.id, username, role, status, group, authVersion, ...by }
}

async function admit(request: FastifyRequest, isOfAnyPassword = false): Promise<Principal> {
  const principal = await principalIfAny(request)
  // NOTE: one answer for every reason, so that nothing can be learnt from it.
  if (principal === null) throw httpError('NotLoggedIn')
  if (!isOfAnyPassword) requireOwnPassword(principal)
  request.principal = principal
  return principal
}

/** Whoever a temporary password fell to must not make what outlasts it: 403 until it is changed. */
export function requireOwnPassword({ isByTemporaryPassword }: Principal): void {
  if (isByTemporaryPassword) throw httpError('PasswordNotOwn')
}

/** Of a call that anybody may make: who it is, as `onlyUser` would let in; null for a visitor. */
export async function principalIfAny(request: FastifyRequest): Promise<Principal | null> {
  const principal = await principalShown(request)
  return request.headers['user-id'] === String(principal?.userId) ? principal : null
}

/**
 * Whether who was let in would be now: for answers that take long. A ban, a logout, and another
 * role or password end it.
 */
export async function isStillAdmitted(request: FastifyRequest): Promise<boolean> {
  const principal = await principalShown(request)
  return principal?.userId === principalOf(request).userId
}

/** Throws the 403 of `onlySession`: for routes of which an access token may do a part. */
export function requireSession({ sessionHash }: Principal): void {
  if (sessionHash === null) throw httpError('SessionRequired')
}

function atLeast(principal: Principal, role: number): void {
  if (principal.role < role) throw httpError('Forbidden')
}
