import type { FastifyRequest } from 'fastify'
import type { IdentityProvider } from '#domain/identity/events.ts'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { LoginMethod } from '#domain/user/commands.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { Outcome } from '#infra/event-store/actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { Unbind } from '../contract/oauth.ts'
import { hasPasskeyAlone } from '../credentials/passkeys.ts'
import { requireRecent } from '../credentials/proof.ts'
import { ofIdentity } from './bind-identity.ts'

const FLAGS: readonly (readonly [LoginMethod, string])[] = [
  ['github', 'GitHubOAuthEnabled'],
  ['oidc', 'oidc.enabled'],
  ['linuxdo', 'LinuxDOOAuthEnabled'],
  ['wechat', 'WeChatAuthEnabled'],
  ['telegram', 'TelegramOAuthEnabled'],
]

/** As the options have it now; an address of mail is one where it can bring a new password. */
export function enabledLoginMethods(
  values: ReadonlyMap<string, string>,
  role: number,
): LoginMethod[] {
  const ways = FLAGS.flatMap(([way, flag]) => (optionFlag(values, flag) ? [way] : []))
  if (!optionFlag(values, 'PasswordLoginEnabled') && role < SUPER_ADMIN) return ways
  const canMail = optionValue(values, 'SMTPServer') !== ''
  return [...ways, 'password', ...(canMail ? (['email'] as const) : [])]
}

/** Each time, somebody else took away or added a way in of the same user. */
const TRIES_MAX = 20

/**
 * Looks and decides again while other processes change the ways in at the same moment. The user's
 * count of them has to be read first and the passkeys after it: what goes in between is noticed.
 */
export async function whileWaysChange(
  decide: () => Promise<Outcome<Fact, CodedError>>,
): Promise<Outcome<Fact, CodedError>> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await decide()
    if (outcome.isDone || tries >= TRIES_MAX) return outcome
    const { code } = outcome.error
    if (code !== 'WaysInChanged' && code !== 'PasskeysChanged') return outcome
  }
}

/**
 * POST /api/user/unbind: lets go of one of the own identities, unless it is the last way in. Who it
 * is was shown just now: of the owner's ways back, a stolen session takes none away.
 */
export const unbindIdentity: Action = (api, deps) => {
  api.post(
    '/api/user/unbind',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Unbind one of the own identities, while there is another way in',
        body: Unbind,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { provider } = request.body
      const { userId } = principalOf(request)
      await requireRecent(deps, request)
      const outcome = await deps.runExclusive(userStream(userId), () =>
        whileWaysChange(() => unbind(deps, request, provider)),
      )
      await waitUntilVisible(deps, reply, ['users'], accepted(outcome).position)
      return done()
    },
  )
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
  const byPasskey = (await hasPasskeyAlone(deps, request)) ? ['passkey'] : []
  const { values } = await allOptions(db)
  const command = {
    type: 'UnbindIdentity',
    provider,
    identityKey,
    enabledLoginMethods: [...enabledLoginMethods(values, role), ...byPasskey],
    ifWaysGone: user?.waysGone,
  }
  const steps = [
    { decider: userDecider, stream, command },
    ofIdentity('ReleaseIdentity', { provider, identityKey, userId }),
  ]
  return actors.handleTogether(steps, contextOf(deps, request))
}
