import type { FastifyReply, FastifyRequest } from 'fastify'
import { startSession } from '#infra/http/start-session.ts'
import type { UserRow } from '#projections/users/query.ts'
import type { SessionUser } from '#read-api/contract/user.ts'
import type { Entered } from '#write-api/contract/session.ts'
import type { Parts } from '../act.ts'
import { refused } from '../refusals.ts'

const ACTIVE = 1

/**
 * Where every way in ends, once it has shown who somebody is: refuses the banned and the
 * deactivated; else starts the session and answers the login's data. Answer it by `success`, under
 * the response schema `Envelope(Entered)`.
 */
export async function enter(
  _parts: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  user: UserRow,
): Promise<Entered> {
  if (user.isDeleted) throw refused('UserDeactivated')
  if (user.status !== ACTIVE) throw refused('UserBanned')
  await startSession(request, reply, user)
  return sessionUserOf(user)
}

const sessionUserOf = (user: UserRow): SessionUser => ({
  id: user.id,
  username: user.username,
  display_name: user.displayName,
  role: user.role,
  status: user.status,
  group: user.group,
  ...(user.mustChangePassword ? { must_change_password: true } : {}),
})
