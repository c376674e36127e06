import type { FastifyRequest } from 'fastify'
import { optionFlag } from '#domain/options/option-registry.ts'
import { SUPER_ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { knownDevice } from '#infra/http/session-and-device-cookies.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByNameKey, type UserRow } from '#projections/users/query.ts'
import type { Action, Deps } from '../action.ts'
import { type Login, loginActions } from '../contract/login.ts'
import { normalizeMailAddress } from '../mail/mail-address.ts'
import { findMailOwner } from '../users/bind-and-unbind-identities.ts'
import { isPassword } from '../users/passwords.ts'
import { nameKeyOf } from '../users/user-names.ts'
import { loginError } from './login-and-registration-errors.ts'
import { countFailures, subjectOf } from './record-failed-logins.ts'
import {
  assertMayLogIn,
  loginOrRequireSecondFactor,
} from './start-session-or-require-second-factor.ts'

const FRESH_WITHIN_MS = 2_000

/**
 * POST /api/user/login: signs a user in with a password. The error for an unknown username is the
 * same as for a wrong password.
 */
export const login: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'POST /api/user/login'),
    handler: async (request, reply) => {
      // The CAPTCHA is checked first. Requests that fail the CAPTCHA must not slow down logins to
      // the account.
      await deps.humanCheck.pass(request, 'login', request.query.turnstile ?? '')
      let candidate: UserRow | null = null
      const onCandidate = (user: UserRow): void => {
        candidate = user
      }
      const who = () => subjectOf(candidate)
      const user = await countFailures(deps, request, who, async () => {
        const user = await verifyPassword(deps, request, onCandidate)
        assertMayLogIn(user)
        return user
      })
      return success(await loginOrRequireSecondFactor(deps, request, reply, user, true))
    },
  })
}

/**
 * Returns the user whose username or email address, and whose password, are in the request. Throws
 * if there is no such user. `onCandidate` is called with the first user whom the entered text may
 * name, before the password is verified, and again with the returned user.
 */
async function verifyPassword(
  deps: Deps,
  request: FastifyRequest<{ Body: Login }>,
  onCandidate: (user: UserRow) => void,
): Promise<UserRow> {
  const { username, password } = request.body
  const address = normalizeMailAddress(username)
  const candidates = await findCandidates(deps, username, address)
  if (candidates[0] !== undefined) onCandidate(candidates[0])
  // Failed attempts are counted by the entered text, not by user. If they were counted by user,
  // guesses with an email address would delay logins with a username. This delay would reveal whose
  // address it is.
  const account = nameKeyOf(deps.core.vault, address ?? username)
  const device = candidates.map((user) => knownDevice(request, user)).find((id) => id !== null)
  const attempt = await deps.loginGuard.enter(request.ip, account, device)
  if (attempt.waitSeconds > 0) throw httpError('TooManyRequests', {}, attempt.waitSeconds)
  const user =
    (await findByPassword(deps.core, candidates, password)) ??
    (await findByPasswordOnceFresh(deps, { username, address, candidates, password }))
  await assertPasswordLoginOpen(deps, user)
  if (user === null) throw loginError('WrongCredentials')
  onCandidate(user)
  attempt.succeeded()
  return user
}

/**
 * Finds the users whom the entered text may name. There can be two, because an old username may
 * equal another user's email address.
 */
async function findCandidates(
  { core }: Deps,
  text: string,
  address: string | null,
): Promise<readonly UserRow[]> {
  const [user, owner] = await Promise.all([
    findUserByNameKey(core.db, nameKeyOf(core.vault, text)),
    address === null ? null : findMailOwner(core, address),
  ])
  const isOtherUser = owner !== null && owner.id !== user?.id
  const candidates = [user, isOtherUser ? owner : null]
  return candidates.filter((one) => one !== null).filter(({ isDeleted }) => !isDeleted)
}

/**
 * Returns the first candidate whose password matches, or null. If there is no candidate, a dummy
 * hash is verified, so that the response takes the same time.
 */
async function findByPassword(
  { vault }: Core,
  candidates: readonly UserRow[],
  password: string,
): Promise<UserRow | null> {
  for (const user of candidates.length === 0 ? [null] : candidates) {
    if (await isPassword(vault, user, password)) return user
  }
  return null
}

type FailedAttempt = {
  readonly username: string
  readonly address: string | null
  readonly candidates: readonly UserRow[]
  readonly password: string
}

/**
 * Waits up to two seconds until the read model is up to date, and then checks the password of users
 * who are new or have a new password. Every failed attempt waits, so that the response time reveals
 * nothing.
 */
async function findByPasswordOnceFresh(
  deps: Deps,
  { username, address, candidates, password }: FailedAttempt,
): Promise<UserRow | null> {
  const { core, freshness } = deps
  const head = await core.store.headPosition()
  await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  const current = await findCandidates(deps, username, address)
  const changed = current.filter(
    ({ id, passwordRef }) =>
      !candidates.some((one) => one.id === id && one.passwordRef === passwordRef),
  )
  return changed.length === 0 ? null : findByPassword(core, changed, password)
}

/**
 * Throws if login with a password is disabled, except for the super admin. The error does not
 * reveal whether the password was correct.
 */
async function assertPasswordLoginOpen({ core }: Deps, user: UserRow | null): Promise<void> {
  if (user !== null && user.role >= SUPER_ADMIN) return
  const { values } = await allOptions(core.db)
  if (!optionFlag(values, 'PasswordLoginEnabled')) throw loginError('PasswordLoginDisabled')
}
