import type { FastifyReply, FastifyRequest } from 'fastify'
import { ACTIVE, ADMIN, AUDITOR, SUPER_ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Vault } from '../vault/port.ts'
import { isAccessToken } from './access-token-format.ts'
import { httpError } from './http-error-class-and-catalogue.ts'
import { requireOwnOrigin } from './origin-checks.ts'
import type { FindAccessToken, FindPrincipals, Principal } from './principal.ts'
import { sessionIdOf } from './session-and-device-cookies.ts'
import type { Sessions } from './sessions.ts'

export type AccessDeps = {
  readonly sessions: Sessions
  readonly findPrincipals: FindPrincipals
  readonly findAccessToken: FindAccessToken
  /**
   * Computes keyed hashes, which protect the cookie that identifies a browser; see
   * `session-and-device-cookies.ts`.
   */
  readonly keyedHash: Vault['keyedHash']
  readonly now: () => number
}

declare module 'fastify' {
  interface FastifyInstance {
    gate: AccessDeps
  }
  interface FastifyRequest {
    principal: Principal | null
    /** The time (`performance.now()`) at which the access check admitted the request. */
    admittedAt: number
  }
}

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Requires a session or access token of the user in the `User-Id` header. Throws a 401 without one,
 * and a 403 if the session began with a temporary password. Runs in `onRequest`, so that
 * unauthenticated callers learn nothing about the route.
 */
export const onlyUser: Check = async (request) => {
  await admit(request)
}

/**
 * Like `onlyUser`, but also admits a session that began with a temporary password, so that the user
 * can replace this password.
 */
export const onlyUserOfAnyPassword: Check = async (request) => {
  await admit(request, true)
}

export const onlySessionOfAnyPassword: Check = async (request) => {
  requireSession(await admit(request, true))
}

/** Like `onlyUser`, but rejects access tokens with 403. */
export const onlySession: Check = async (request) => {
  requireSession(await admit(request))
}

/** Like `onlyUser`, but also throws a 403 for a role below 5 (auditor). */
export const onlyAuditor: Check = async (request) => atLeast(await admit(request), AUDITOR)

/** Like `onlyUser`, but also throws a 403 for a role below 10 (admin). */
export const onlyAdmin: Check = async (request) => atLeast(await admit(request), ADMIN)

/** Like `onlySession`, but also throws a 403 for a role below 10 (admin). */
export const onlyAdminSession: Check = async (request) => {
  const principal = await admit(request)
  requireSession(principal)
  atLeast(principal, ADMIN)
}

/** Like `onlyUser`, but also throws a 403 for a role below 100 (super admin). */
export const onlyRoot: Check = async (request) => atLeast(await admit(request), SUPER_ADMIN)

/** Like `onlySession`, but also throws a 403 for a role below 100 (super admin). */
export const onlyRootSession: Check = async (request) => {
  const principal = await admit(request)
  requireSession(principal)
  atLeast(principal, SUPER_ADMIN)
}

/**
 * Requires a session cookie, this site's `Origin` and a password that is not temporary. Used for
 * websockets, because browsers can't send the header `User-Id` when they open a websocket. Runs in
 * `preValidation`.
 */
export const onlySocket: Check = async (request) => {
  requireOwnOrigin(request)
  request.principal = await principalOfSession(request)
  if (request.principal === null) throw httpError('NotLoggedIn')
  requireOwnPassword(request.principal)
}

/**
 * Returns the hash of the session id. Throws for an access token, so only routes that require a
 * session may call this function.
 */
export function sessionOf(request: FastifyRequest): string {
  const { sessionHash } = principalOf(request)
  if (sessionHash === null)
    throw new Error(`${request.routeOptions.url}: the route requires no session`)
  return sessionHash
}

/** Returns the authenticated user of the request. Throws on a route without an access check. */
export function principalOf(request: FastifyRequest): Principal {
  const { principal, routeOptions } = request
  if (principal === null) throw new Error(`${routeOptions.url}: the route has no access check`)
  return principal
}

/**
 * Finds the user who sent the request. An access token takes precedence over the session cookie.
 */
async function principalOfRequest(request: FastifyRequest): Promise<Principal | null> {
  const { authorization } = request.headers
  const [, token] = /^Bearer +(.+)$/i.exec(authorization ?? '') ?? []
  return token === undefined ? principalOfSession(request) : principalOfToken(request, token)
}

async function principalOfToken(request: FastifyRequest, token: string): Promise<Principal | null> {
  if (!isAccessToken(token)) return null
  const { findAccessToken, now } = request.server.gate
  const record = await findAccessToken(token)
  if (record === null || record.expiresAt * 1_000 <= now()) return null
  const by = { sessionHash: null, isByTemporaryPassword: false, provedAt: 0 }
  return principalFor(request, record, by)
}

/**
 * Returns the owner of the request's session. Returns null if there is no valid session, if the
 * user was banned or deleted, or if the user's `authVersion` has increased, for example because of
 * a new password or role. Access tokens are ignored.
 */
export async function principalOfSession(request: FastifyRequest): Promise<Principal | null> {
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
  const [user] = await request.server.gate.findPrincipals([shown.userId])
  if (user === undefined || user.isDeleted || user.status !== ACTIVE) return null
  if (user.authVersion !== shown.authVersion) return null
  const { username, role, status, group, authVersion } = user
  return { userId: user.id, username, role, status, group, authVersion, ...by }
}

async function admit(request: FastifyRequest, allowsTemporaryPassword = false): Promise<Principal> {
  const principal = await principalIfAny(request)
  // NOTE: the response is the same for all reasons, so that callers can't find out the reason.
  if (principal === null) throw httpError('NotLoggedIn')
  if (!allowsTemporaryPassword) requireOwnPassword(principal)
  request.principal = principal
  request.admittedAt = performance.now()
  return principal
}

/** A body that takes longer than this many milliseconds makes the access be checked again. */
const QUICK_BODY_MS = 1_000

/**
 * Throws a 401 if the caller has lost access while the body of the request arrived. A client can
 * delay the end of a body for minutes, so that a banned admin could still change something. Most
 * bodies arrive at once and need no second check.
 */
export async function requireAccessAfterBody(request: FastifyRequest): Promise<void> {
  const { principal, admittedAt } = request
  if (principal === null || performance.now() - admittedAt < QUICK_BODY_MS) return
  if (!(await isStillAdmitted(request))) throw httpError('NotLoggedIn')
}

/**
 * Throws a 403 for a session that began with a temporary password, which the user must replace
 * first.
 */
export function requireOwnPassword({ isByTemporaryPassword }: Principal): void {
  if (isByTemporaryPassword) throw httpError('PasswordNotOwn')
}

/**
 * Returns the authenticated user of the request, even with a temporary password. Public routes call
 * this function, because it does not throw. Returns null if there is no valid session or access
 * token, or if `User-Id` does not name this user.
 */
export async function principalIfAny(request: FastifyRequest): Promise<Principal | null> {
  const principal = await principalOfRequest(request)
  return request.headers['user-id'] === String(principal?.userId) ? principal : null
}

/**
 * Reports whether the caller would still be admitted. Long responses must check this repeatedly,
 * because a ban, a logout, or a new role or password ends the access.
 */
export async function isStillAdmitted(request: FastifyRequest): Promise<boolean> {
  const principal = await principalOfRequest(request)
  return principal?.userId === principalOf(request).userId
}

/** Throws a 403 for an access token. */
export function requireSession({ sessionHash }: Principal): void {
  if (sessionHash === null) throw httpError('SessionRequired')
}

function atLeast(principal: Principal, role: number): void {
  if (principal.role < role) throw httpError('Forbidden')
}
