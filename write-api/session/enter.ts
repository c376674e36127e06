import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CredentialsState } from '#domain/credentials/state.ts'
import { ACTIVE } from '#domain/shared/roles.ts'
import { startSession } from '#infra/http/session-cookie.ts'
import type { UserRow } from '#projections/users/query.ts'
import type { SessionUser } from '#read-api/contract/user.ts'
import type { Entered, SecondFactorKind } from '#write-api/contract/session.ts'
import type { Deps } from '../action.ts'
import { credentialsOf } from '../credentials/credentials-of.ts'
import { loginError } from './login-errors.ts'
import { issueTicket } from './login-ticket.ts'

/**
 * Where every way in ends, once it has shown who somebody is: refuses the banned and the
 * deactivated, asks for a second factor of those who have one, and else starts the session and
 * answers the login's data. Answer it by `success`, under the response schema `Envelope(Entered)`.
 * `isByPassword`: a temporary password must be changed by whoever came in by it, and by no other.
 */
export async function enter(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
  isByPassword = false,
): Promise<Entered> {
  mayEnter(user)
  const kinds = kindsOf(await credentialsOf(deps, user.id))
  if (kinds.length === 0) return enterFully(request, reply, user, isByPassword)
  return { second_factor: { ticket: await issueTicket(deps, user, isByPassword), kinds } }
}

/** As above, for who has shown all there is to show. */
export async function enterFully(
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
  isByPassword = false,
): Promise<SessionUser> {
  mayEnter(user)
  const isTemporary = isByPassword && user.mustChangePassword
  await startSession(request, reply, user, isTemporary)
  const { id, username, displayName, role, status, group } = user
  const mustChange = isTemporary ? { must_change_password: true } : {}
  return { id, username, display_name: displayName, role, status, group, ...mustChange }
}

function mayEnter(user: UserRow): void {
  if (user.isDeleted) throw loginError('UserDeactivated')
  if (user.status !== ACTIVE) throw loginError('UserBanned')
}

function kindsOf({ totp, passkeys, recoveryCodes }: CredentialsState): SecondFactorKind[] {
  const kinds: SecondFactorKind[] = []
  if (totp !== null) kinds.push('totp')
  if (passkeys.size > 0) kinds.push('passkey')
  if (kinds.length > 0 && recoveryCodes.size > 0) kinds.push('recovery')
  return kinds
}
