import { randomInt } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityDecider } from '#domain/identity/decide.ts'
import { identityStream } from '#domain/identity/events.ts'
import { optionInteger } from '#domain/options/registry.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUser, findUserByIdentity, type UserRow } from '#projections/users/query.ts'
import type { LoginResult } from '#write-api/contract/login.ts'
import { accepted, type Deps, waitUntilVisible } from '../action.ts'
import { completeLogin } from '../sessions/complete-login.ts'
import { identityKeyOf } from '../users/identity.ts'
import { createUserAccount, inviterOf } from '../users/new-user.ts'
import { assertRegistrationOpen } from '../users/register.ts'
import { ACCOUNT_LIMITS, displayNameFrom } from '../users/user-names.ts'
import { oauthError } from './oauth-errors.ts'
import type { Journey } from './oauth-state.ts'
import type { Profile } from './provider.ts'

/**
 * Lets in whom a provider has confirmed; whoever is new gets an account first. `only`: who logs in
 * anew is who he was, as another account must not take this one's place unseen.
 */
export async function loginWithIdentity(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  profile: Profile,
  { aff, only }: Pick<Journey, 'aff' | 'only'>,
): Promise<LoginResult> {
  const { identity } = profile
  const key = identityKeyOf(deps.core.vault, identity)
  const known = await findUserByIdentity(deps.core.db, identity.provider, key)
  if (only !== undefined && known?.id !== only) {
    throw oauthError('OAuthOther', { provider: identity.provider })
  }
  const user = known ?? (await newcomer(deps, request, reply, profile, { aff, key }))
  return completeLogin(deps, request, reply, user)
}

async function newcomer(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  profile: Profile,
  { aff, key }: { readonly aff: string; readonly key: string },
): Promise<UserRow> {
  const { core } = deps
  const { provider } = profile.identity
  const stream = identityStream(provider, key)
  // One at a time: of two tabs of one newcomer, the second finds what the first has made.
  const { id, position } = await deps.runExclusive(stream, async () => {
    const { userId } = await core.actors.stateOf(identityDecider, stream)
    if (userId !== null) return { id: userId, position: await core.store.headPosition() }
    return register(deps, request, profile, aff)
  })
  await waitUntilVisible(deps, reply, ['users', 'balances'], position)
  const user = await findUser(core.db, id)
  // The account is a fact; it can be entered as soon as the read model is back.
  if (user === null) throw httpError('Unavailable', {}, 1)
  return user
}

async function register(
  deps: Deps,
  request: FastifyRequest,
  { identity, username, displayName }: Profile,
  aff: string,
): Promise<{ id: number; position: number }> {
  const { values } = await allOptions(deps.core.db)
  await assertRegistrationOpen(deps.core.db, values)
  const inviterId = await inviterOf(deps, aff)
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
    } as const
    const { id, outcome } = await createUserAccount(deps, user, context)
    const isTaken = !outcome.isDone && outcome.error.code === 'UsernameTaken'
    if (!isTaken) return { id, position: accepted(outcome).position }
  }
  throw oauthError('NoFreeUsername')
}

const MAX = ACCOUNT_LIMITS.usernameCharacters
const TRIES = 12

/**
 * Names to try for a newcomer, best first: what the provider calls them, as far as it can be a
 * name here, and then with digits. Never longer than names may be.
 */
function* usernamesFor(theirs: string, fallback: string): Generator<string> {
  const base = cleaned(theirs)
  if (base !== '') yield base
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    // More digits the longer nothing is free.
    const digits = String(randomInt(10 ** (4 + Math.min(attempt, 3)))).padStart(4, '0')
    const stem = base === '' ? fallback : base
    yield [...stem].slice(0, MAX - digits.length).join('') + digits
  }
}

/** Of an address of mail, only what stands before the `@`: the rest is nobody's business. */
function cleaned(theirs: string): string {
  const [name = ''] = theirs.normalize('NFKC').split('@')
  const characters = [...name.replace(/[\s\p{C}]/gu, '')]
  return characters.slice(0, MAX).join('')
}
