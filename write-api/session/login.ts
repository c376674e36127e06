import { optionFlag } from '#domain/options/registry.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { sessionIdOf, setSessionCookie } from '#infra/http/session-cookie.ts'
import { sessionHash } from '#infra/http/sessions.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByNameKey, type UserRow } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { SessionUser } from '#read-api/contract/user.ts'
import { Login } from '#write-api/contract/setup.ts'
import type { Act, Parts } from '../act.ts'
import { refused } from '../refusals.ts'
import { isPassword, NO_HASH } from '../users/password-secret.ts'
import { nameKeyOf } from '../users/username.ts'

const ACTIVE = 1
const ROOT = 100

/** POST /api/user/login: a new session for a right password; every wrong one looks the same. */
export const login: Act = (api, parts) => {
  api.post(
    '/api/user/login',
    {
      schema: {
        summary: 'Log in; the session is a cookie',
        body: Login,
        response: { 200: Envelope(SessionUser) },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body
      const account = nameKeyOf(parts.core.vault, username)
      const attempt = await parts.loginGuard.enter(request.ip, account)
      if (attempt.waitSeconds > 0) throw fault('TooManyRequests', attempt.waitSeconds)
      const user = await admitted(parts, account, password)
      attempt.succeeded()
      await mayEnter(parts, user)
      const { sessions } = request.server.gate
      const old = sessionIdOf(request)
      if (old !== null) await sessions.end(sessionHash(old))
      setSessionCookie(reply, await sessions.start(user.id, user.authVersion))
      const { id, displayName, role, status, group } = user
      return success({
        id,
        username: user.username,
        display_name: displayName,
        role,
        status,
        group,
      })
    },
  )
}

async function admitted({ core }: Parts, nameKey: string, password: string): Promise<UserRow> {
  const user = await findUserByNameKey(core.db, nameKey)
  const isRight =
    user === null || user.isDeleted
      ? await core.vault.verifyPassword(password, NO_HASH)
      : await isPassword(core.vault, user, password)
  if (user === null || !isRight) throw refused('WrongCredentials')
  return user
}

/** Told only to whoever knows the password. The super admin can't lock everybody out. */
async function mayEnter({ core }: Parts, user: UserRow): Promise<void> {
  if (user.status !== ACTIVE) throw refused('UserBanned')
  if (user.role >= ROOT) return
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'PasswordLoginEnabled')) throw refused('PasswordLoginDisabled')
}
