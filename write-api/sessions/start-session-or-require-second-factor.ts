import type { FastifyReply, FastifyRequest } from 'fastify'
import { loginsStream, type UserLoggedIn } from '#domain/credentials/events.ts'
import type { CredentialsState } from '#domain/credentials/state.ts'
import { ACTIVE } from '#domain/shared/user-roles-and-statuses.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import { startSession } from '#infra/http/session-and-device-cookies.ts'
import type { UserRow } from '#projections/users/query.ts'
import type { SessionUser } from '#read-api/contract/users.ts'
import type { LoginResult, SecondFactorKind } from '#write-api/contract/login.ts'
import type { Deps } from '../action.ts'
import { credentialsOf } from '../credentials/read-and-change-credentials.ts'
import { loginError } from './login-and-registration-errors.ts'
import { issueTicket } from './login-ticket.ts'

/**
 * Continues a login after its first factor. Starts a session, or returns a ticket for the second
 * step if the user has a second factor. Throws if the user is banned or deactivated. `isByPassword`
 * is true if the first factor was a password. If this password is temporary, the user must change
 * it.
 */
export async function loginOrRequireSecondFactor(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
  isByPassword = false,
): Promise<LoginResult> {
  assertMayLogIn(user)
  const kinds = secondFactorKinds(await credentialsOf(deps, user.id))
  if (kinds.length === 0) return startUserSession(deps, request, reply, user, isByPassword)
  return { second_factor: { ticket: await issueTicket(deps, user, isByPassword), kinds } }
}

/**
 * Records the login and starts a session. The user must have presented all required factors. If the
 * login cannot be recorded, no session starts.
 */
export async function startUserSession(
  { core }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
  isByPassword = false,
): Promise<SessionUser> {
  assertMayLogIn(user)
  reply.header('x-position', await recordLogin(core, request, user.id, isByPassword))
  const isTemporary = isByPassword && user.mustChangePassword
  await startSession(request, reply, user, isTemporary)
  await endSessionOfDeleted(core, request, user.id)
  const { id, username, displayName, role, status, group } = user
  const mustChange = isTemporary ? { must_change_password: true } : {}
  return { id, username, display_name: displayName, role, status, group, ...mustChange }
}

/**
 * Ends the user's sessions and throws if the user was deleted while the session started. The
 * deletion may have missed this session, which contains the client's address.
 */
async function endSessionOfDeleted(
  { actors }: Deps['core'],
  { server }: FastifyRequest,
  userId: number,
): Promise<void> {
  const { user } = await actors.peek(userDecider, userStream(userId))
  if (user?.isDeleted !== true) return
  await server.gate.sessions.endAllOf(userId)
  throw loginError('UserDeactivated')
}

/** Appends an event for the login. Returns the position of the event. */
async function recordLogin(
  { store, vault, now }: Deps['core'],
  request: FastifyRequest,
  userId: number,
  isByPassword: boolean,
): Promise<number> {
  const clientIp = await vault.seal(userId, request.ip)
  const event: UserLoggedIn = {
    ...{ type: 'UserLoggedIn', v: 1, data: { userId, clientIp, isByPassword } },
  }
  const context = { actor: `user:${userId}`, cause: request.id, at: now() }
  const stream = loginsStream(userId)
  const events = newEvents([event], context)
  return (await store.append([{ stream, expected: 'any', events }])).position
}

/** Throws if the user is banned or deactivated. */
export function assertMayLogIn(user: UserRow): void {
  if (user.isDeleted) throw loginError('UserDeactivated')
  if (user.status !== ACTIVE) throw loginError('UserBanned')
}

function secondFactorKinds({
  totp,
  passkeys,
  recoveryCodes,
}: CredentialsState): SecondFactorKind[] {
  const kinds: SecondFactorKind[] = []
  if (totp !== null) kinds.push('totp')
  if (passkeys.size > 0) kinds.push('passkey')
  if (kinds.length > 0 && recoveryCodes.size > 0) kinds.push('recovery')
  return kinds
}
