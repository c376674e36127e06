import { randomInt } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityDecider } from '#domain/identities/decide.ts'
import { identityStream } from '#domain/identities/events.ts'
import { optionInteger } from '#domain/options/option-registry.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser, findUserByIdentity, type UserRow } from '#projections/users/query.ts'
import type { LoginResult } from '#write-api/contract/login.ts'
import { accepted, type Deps, waitUntilVisible } from '../action.ts'
import { countFailures, subjectOf } from '../sessions/record-failed-logins.ts'
import { loginOrRequireSecondFactor } from '../sessions/start-session-or-require-second-factor.ts'
import { createUserAccount, inviterOf } from '../users/create-user-account.ts'
import { identityKeyOf } from '../users/identity-key.ts'
import { assertRegistrationOpen } from '../users/register.ts'
import { ACCOUNT_LIMITS, displayNameFrom, mixesAlphabets } from '../users/user-names.ts'
import { oauthError } from './oauth-errors.ts'
import type { Profile } from './oauth-provider-types.ts'
import type { OAuthFlow } from './oauth-state.ts'

/**
 * Signs in the user to whom the identity belongs, or registers a new user if the identity belongs
 * to nobody. `requiredUserId` is set if a user with a session logs in again as a proof of identity.
 * In this case, the identity must belong to the user `requiredUserId`.
 */
export async function loginWithIdentity(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  profile: Profile,
  { aff: affiliateCode, only: requiredUserId }: Pick<OAuthFlow, 'aff' | 'only'>,
): Promise<LoginResult> {
  const { identity } = profile
  const key = identityKeyOf(deps.core.vault, identity)
  const existing = await findUserByIdentity(deps.core.db, identity.provider, key)
  if (requiredUserId !== undefined && existing?.id !== requiredUserId) {
    throw oauthError('OAuthOther', { provider: identity.provider })
  }
  const user =
    existing ?? (await findOrRegister(deps, request, reply, profile, { affiliateCode, key }))
  const who = () => subjectOf(user)
  return countFailures(deps, request, who, () =>
    loginOrRequireSecondFactor(deps, request, reply, user),
  )
}

async function findOrRegister(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  profile: Profile,
  { affiliateCode, key }: { readonly affiliateCode: string; readonly key: string },
): Promise<UserRow> {
  const { core } = deps
  const { provider } = profile.identity
  const stream = identityStream(provider, key)
  // A new user may sign in from two tabs at once. The second request must find the account that the
  // first request has created.
  const { id, position } = await deps.runExclusive(stream, async () => {
    const { userId } = await core.actors.stateOf(identityDecider, stream)
    if (userId !== null) return { id: userId, position: await core.store.headPosition() }
    return register(deps, request, profile, affiliateCode)
  })
  await waitUntilVisible(deps, reply, ['users', 'balances'], position)
  const user = await findUser(core.db, id)
  // The read model does not include the new account yet. The user can sign in again later.
  if (user === null) throw httpError('Unavailable', {}, 1)
  return user
}

async function register(
  deps: Deps,
  request: FastifyRequest,
  { identity, username, displayName }: Profile,
  affiliateCode: string,
): Promise<{ id: number; position: number }> {
  const { values } = await allOptions(deps.core.db)
  await assertRegistrationOpen(deps.core.db, values)
  const inviterId = await inviterOf(deps, affiliateCode)
  const context = { actor: 'system:register', cause: request.id, at: deps.core.now() }
  for (const name of usernamesFor(username, identity.provider)) {
    const user = {
      username: name,
      displayName: displayNameFrom(displayName) || name,
      password: null,
      role: 1,
      quota: BigInt(optionInteger(values, 'QuotaForNewUser')),
      reason: 'new-user',
      identities: [identity],
      inviterId,
      request,
    } as const
    const { id, outcome } = await createUserAccount(deps, user, context)
    const isTaken = !outcome.isDone && outcome.error.code === 'UsernameTaken'
    if (!isTaken) return { id, position: accepted(outcome).position }
  }
  throw oauthError('NoFreeUsername')
}

const USERNAME_CHARACTERS_MAX = ACCOUNT_LIMITS.usernameCharacters
const DIGIT_ATTEMPTS = 12

/**
 * Yields usernames to try: first the name at the provider without invalid characters, then the same
 * name with random digits. If the name has no valid character, `fallback` replaces it. Names are
 * shortened to the maximum length.
 */
function* usernamesFor(providerName: string, fallback: string): Generator<string> {
  const base = cleanUsername(providerName)
  if (base !== '') yield base
  for (let attempt = 0; attempt < DIGIT_ATTEMPTS; attempt += 1) {
    // The first attempt with digits adds four digits to the name. Later attempts add up to seven.
    const digits = String(randomInt(10 ** (4 + Math.min(attempt, 3)))).padStart(4, '0')
    const stem = base === '' ? fallback : base
    yield [...stem].slice(0, USERNAME_CHARACTERS_MAX - digits.length).join('') + digits
  }
}

/**
 * Returns the name at the provider without characters that a username must not contain. If the name
 * is an email address, only the part before the @ is used, because the domain is private. Returns
 * an empty text if the name mixes alphabets.
 */
function cleanUsername(providerName: string): string {
  const [name = ''] = providerName.normalize('NFKC').split('@')
  if (mixesAlphabets(name)) return ''
  const characters = [...name.replace(/[\s\p{C}]/gu, '')]
  return characters.slice(0, USERNAME_CHARACTERS_MAX).join('')
}
