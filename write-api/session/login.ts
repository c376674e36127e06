import { optionFlag } from '#domain/options/registry.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByNameKey, type UserRow } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { Entered } from '#write-api/contract/session.ts'
import { Login } from '#write-api/contract/setup.ts'
import type { Act, Parts } from '../act.ts'
import { refused } from '../refusals.ts'
import { isPassword, NO_HASH } from '../users/password-secret.ts'
import { nameKeyOf } from '../users/username.ts'
import { enter } from './enter.ts'

const ACTIVE = 1
const ROOT = 100

/** POST /api/user/login: a way in for a right password; every wrong one looks the same. */
export const login: Act = (api, parts) => {
  api.post(
    '/api/user/login',
    {
      schema: {
        summary: 'Log in; the session is a cookie',
        body: Login,
        response: { 200: Envelope(Entered) },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body
      const account = nameKeyOf(parts.core.vault, username)
      const attempt = await parts.loginGuard.enter(request.ip, account)
      if (attempt.waitSeconds > 0) throw fault('TooManyRequests', attempt.waitSeconds)
      const user = await admitted(parts, account, password)
      attempt.succeeded()
      await mayUsePassword(parts, user)
      return success(await enter(parts, request, reply, user))
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

/** The super admin can't lock everybody out; a banned user is told that instead. */
async function mayUsePassword({ core }: Parts, user: UserRow): Promise<void> {
  if (user.role >= ROOT || user.status !== ACTIVE) return
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'PasswordLoginEnabled')) throw refused('PasswordLoginDisabled')
}
