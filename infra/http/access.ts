import type { FastifyReply, FastifyRequest } from 'fastify'
import { fault } from './faults.ts'
import { requireOwnOrigin } from './origin.ts'
import type { FindPrincipal, Principal } from './principal.ts'
import { sessionIdOf } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

/** What the checks below work with; `createHttpApp` puts it on the app. */
export type Gate = { readonly sessions: Sessions; readonly findPrincipal: FindPrincipal }

declare module 'fastify' {
  interface FastifyInstance {
    gate: Gate
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

const ACTIVE = 1
const ADMIN = 10
const ROOT = 100

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** preHandler: a valid session whose user is the one that `User-Id` names; else 401. */
export const onlyUser: Check = async (request) => {
  await admit(request)
}

/** preHandler: as `onlyUser`, and role 10 or above; else 403. */
export const onlyAdmin: Check = async (request) => atLeast(await admit(request), ADMIN)

/** preHandler: as `onlyUser`, and role 100; else 403. */
export const onlyRoot: Check = async (request) => atLeast(await admit(request), ROOT)

/**
 * preHandler of a websocket route: session cookie and our own `Origin`. A browser can't send
 * `User-Id` with a socket.
 */
export const onlyOwnSocket: Check = async (request) => {
  requireOwnOrigin(request)
  request.principal = await principalNow(request)
  if (request.principal === null) throw fault('NotLoggedIn')
}

/** Who makes the request. Only behind one of the checks above; throws a bug elsewhere. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error(`${request.url}: no access check before this`)
  return request.principal
}

/**
 * The request's principal as of this moment; null once the session ended or the user was banned,
 * or changed role or password. For what stays open: ask again while it does.
 */
export async function principalNow(request: FastifyRequest): Promise<Principal | null> {
  const { sessions, findPrincipal } = request.server.gate
  const id = sessionIdOf(request)
  const session = id === null ? null : await sessions.find(id)
  if (session === null) return null
  const user = await findPrincipal(session.userId)
  if (user === null || user.isDeleted || user.status !== ACTIVE) return null
  if (user.authVersion !== session.authVersion) return null
  const { username, role, status, group, authVersion } = user
  return {
    userId: user.id,
    username,
    role,
    status,
    group,
    authVersion,
    sessionHash: session.hash,
  }
}

async function admit(request: FastifyRequest): Promise<Principal> {
  const principal = await principalNow(request)
  // NOTE: one answer for every reason, so that nothing can be learnt from it.
  if (principal === null || request.headers['user-id'] !== String(principal.userId)) {
    throw fault('NotLoggedIn')
  }
  request.principal = principal
  return principal
}

function atLeast(principal: Principal, role: number): void {
  if (principal.role < role) throw fault('Forbidden')
}
