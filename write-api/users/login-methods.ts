import type { FastifyRequest } from 'fastify'
import type { IdentityProvider } from '#domain/identities/events.ts'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { LoginMethod } from '#domain/users/commands.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { Outcome } from '#infra/event-store/stream-actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { oauthActions } from '../contract/oauth.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { canLogInWithPasskey } from '../credentials/passkeys.ts'
import { identityStep } from './bind-identity.ts'

const FLAGS: readonly (readonly [LoginMethod, string])[] = [
  ['github', 'GitHubOAuthEnabled'],
  ['oidc', 'oidc.enabled'],
  ['linuxdo', 'LinuxDOOAuthEnabled'],
  ['wechat', 'WeChatAuthEnabled'],
  ['telegram', 'TelegramOAuthEnabled'],
]

/**
 * Returns the login methods that the site enables for a role. An email address is included if it
 * can be used to reset the password.
 */
export function enabledLoginMethods(
  values: ReadonlyMap<string, string>,
  role: number,
): LoginMethod[] {
  const methods = FLAGS.flatMap(([method, flag]) => (optionFlag(values, flag) ? [method] : []))
  if (!optionFlag(values, 'PasswordLoginEnabled') && role < SUPER_ADMIN) return methods
  const canMail = optionValue(values, 'SMTPServer') !== ''
  return [...methods, 'password', ...(canMail ? (['email'] as const) : [])]
}

/**
 * The maximum number of attempts. An attempt fails if another process changes the user's login
 * methods.
 */
const ATTEMPTS_MAX = 20

/**
 * Calls `decide` again if another process has changed the login methods. NOTE: `decide` must first
 * read the number of removed login methods, and then the passkeys. Otherwise, a change between the
 * two reads would not be noticed.
 */
export async function retryWhileLoginMethodsChange(
  decide: () => Promise<Outcome<Fact, CodedError>>,
): Promise<Outcome<Fact, CodedError>> {
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await decide()
    if (outcome.isDone || attempts >= ATTEMPTS_MAX) return outcome
    const { code } = outcome.error
    if (code !== 'WaysInChanged' && code !== 'PasskeysChanged') return outcome
  }
}

/**
 * POST /api/user/unbind: unbinds an identity. The last login method cannot be removed. The caller
 * must have proved the identity recently, because a stolen session must not be sufficient to remove
 * the owner's login methods.
 */
export const unbindIdentity: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'POST /api/user/unbind'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { provider } = request.body
      const { userId } = principalOf(request)
      await requireRecentLogin(deps, request)
      const outcome = await deps.runExclusive(userStream(userId), () =>
        retryWhileLoginMethodsChange(() => unbind(deps, request, provider)),
      )
      await waitUntilVisible(deps, reply, ['users'], accepted(outcome).position)
      return done()
    },
  })
}

async function unbind(
  deps: Deps,
  request: FastifyRequest,
  provider: IdentityProvider,
): Promise<Outcome<Fact, CodedError>> {
  const { actors, store, db } = deps.core
  const { userId, role } = principalOf(request)
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  const identityKey = user?.identities[provider]
  if (identityKey === undefined) {
    return { isDone: true, events: [], position: await store.headPosition() }
  }
  const passkeyMethod = (await canLogInWithPasskey(deps, request)) ? ['passkey'] : []
  const { values } = await allOptions(db)
  const command = {
    type: 'UnbindIdentity',
    provider,
    identityKey,
    enabledLoginMethods: [...enabledLoginMethods(values, role), ...passkeyMethod],
    expectedRemovedLoginMethods: user?.removedLoginMethods,
  }
  const steps = [
    { decider: userDecider, stream, command },
    identityStep('ReleaseIdentity', { provider, identityKey, userId }),
  ]
  return actors.handleTogether(steps, contextOf(deps, request))
}
