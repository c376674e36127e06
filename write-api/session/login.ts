import { optionFlag } from '#domain/options/registry.ts'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { knownDevice } from '#infra/http/session-cookie.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByNameKey, type UserRow } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { HumanToken } from '#write-api/contract/entry.ts'
import { Entered } from '#write-api/contract/session.ts'
import { Login } from '#write-api/contract/setup.ts'
import type { Action, Deps } from '../action.ts'
import { spelled } from '../mail/mail-address.ts'
import { findMailOwner } from '../users/bind-identity.ts'
import { isPassword } from '../users/passwords.ts'
import { nameKeyOf } from '../users/user-names.ts'
import { enter } from './enter.ts'
import { loginError } from './login-errors.ts'

const FRESH_WITHIN_MS = 2_000

/** POST /api/user/login: a way in for a right password; every wrong one looks the same. */
export const login: Action = (api, deps) => {
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
      await deps.humanCheck.pass(request, 'login', request.query.turnstile ?? '')
      const address = spelled(username)
      const found = await named(deps, username, address)
      // As what was typed is looked up, in its one spelling; never by whom it found: tries of an
      // address that slowed down a name would tell whose it is.
      const account = nameKeyOf(deps.core.vault, address ?? username)
      const device = found.map((user) => knownDevice(request, user)).find((id) => id !== null)
      const attempt = await deps.loginGuard.enter(request.ip, account, device)
      if (attempt.waitSeconds > 0) throw httpError('TooManyRequests', {}, attempt.waitSeconds)
      const user =
        (await whose(deps.core, found, password)) ??
        (await whoseByNow(deps, { username, address, found, password }))
      await checkOpen(deps, user)
      if (user === null) throw loginError('WrongCredentials')
      attempt.succeeded()
      return success(await enter(deps, request, reply, user, true))
    },
  )
}

/** By username, and by mail address: names of before may be another one's address. */
async function named(
  { core }: Deps,
  text: string,
  address: string | null,
): Promise<readonly UserRow[]> {
  const [user, owner] = await Promise.all([
    findUserByNameKey(core.db, nameKeyOf(core.vault, text)),
    address === null ? null : findMailOwner(core, address),
  ])
  const isTwo = owner !== null && owner.id !== user?.id
  const found = [user, isTwo ? owner : null]
  return found.filter((one) => one !== null).filter(({ isDeleted }) => !isDeleted)
}

/** The first whose password it is; null for nobody's, in the time that one takes. */
async function whose(
  { vault }: Core,
  found: readonly UserRow[],
  password: string,
): Promise<UserRow | null> {
  for (const user of found.length === 0 ? [null] : found) {
    if (await isPassword(vault, user, password)) return user
  }
  return null
}

type Tried = {
  readonly username: string
  readonly address: string | null
  readonly found: readonly UserRow[]
  readonly password: string
}

/**
 * Who was made or changed the password a moment ago may not be in the read model yet: it is looked
 * up again once that has caught up, for two seconds at most. After every try that was wrong, be it
 * of somebody or nobody, so that time tells nothing; and checked again only where there is news.
 */
async function whoseByNow(
  deps: Deps,
  { username, address, found, password }: Tried,
): Promise<UserRow | null> {
  const { core, freshness } = deps
  const head = await core.store.headPosition()
  await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  const byNow = await named(deps, username, address)
  const news = byNow.filter(
    ({ id, passwordRef }) => !found.some((one) => one.id === id && one.passwordRef === passwordRef),
  )
  return news.length === 0 ? null : whose(core, news, password)
}

/**
 * While nobody comes in by password, no answer tells whether one was right. The super admin can't
 * lock everybody out, and is let in.
 */
async function checkOpen({ core }: Deps, user: UserRow | null): Promise<void> {
  if (user !== null && user.role >= SUPER_ADMIN) return
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'PasswordLoginEnabled')) throw loginError('PasswordLoginDisabled')
}
