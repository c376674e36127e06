import { optionFlag } from '#domain/options/registry.ts'
import { ACTIVE, SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByNameKey, type UserRow } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { HumanToken } from '#write-api/contract/entry.ts'
import { Entered } from '#write-api/contract/session.ts'
import { Login } from '#write-api/contract/setup.ts'
import type { Act, Parts } from '../act.ts'
import { spelled } from '../mail/mail-address.ts'
import { refused } from '../refusals.ts'
import { findMailOwner } from '../users/mail-identity.ts'
import { isPassword } from '../users/password-secret.ts'
import { nameKeyOf } from '../users/username.ts'
import { enter } from './enter.ts'

/** POST /api/user/login: a way in for a right password; every wrong one looks the same. */
export const login: Act = (api, parts) => {
  api.post(
    '/api/user/login',
    {
      schema: {
        summary: 'Log in; the session is a cookie',
        querystring: HumanToken,
        body: Login,
        response: { 200: Envelope(Entered) },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body
      // First: what no human asked for must not slow anybody's account down.
      await parts.humanCheck.pass(request, 'login', request.query.turnstile ?? '')
      const address = spelled(username)
      const user = await named(parts, username, address)
      // As what was typed is looked up, in its one spelling; never by whom it found: tries of an
      // address that slowed down a name would tell whose it is.
      const account = nameKeyOf(parts.core.vault, address ?? username)
      const attempt = await parts.loginGuard.enter(request.ip, account)
      if (attempt.waitSeconds > 0) throw fault('TooManyRequests', attempt.waitSeconds)
      const isAdmitted = await isRight(parts.core, user, password)
      if (user === null || !isAdmitted) throw refused('WrongCredentials')
      attempt.succeeded()
      await mayUsePassword(parts, user)
      return success(await enter(parts, request, reply, user, true))
    },
  )
}

/** By username or by mail address; null for nobody. Looks for both, whatever it finds. */
async function named(
  { core }: Parts,
  text: string,
  address: string | null,
): Promise<UserRow | null> {
  const [owner, user] = await Promise.all([
    address === null ? null : findMailOwner(core, address),
    findUserByNameKey(core.db, nameKeyOf(core.vault, text)),
  ])
  return owner ?? user
}

const isRight = ({ vault }: Core, user: UserRow | null, password: string): Promise<boolean> =>
  isPassword(vault, user === null || user.isDeleted ? null : user, password)

/** The super admin can't lock everybody out; a banned user is told that instead. */
async function mayUsePassword({ core }: Parts, user: UserRow): Promise<void> {
  if (user.role >= SUPER_ADMIN || user.status !== ACTIVE) return
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'PasswordLoginEnabled')) throw refused('PasswordLoginDisabled')
}
