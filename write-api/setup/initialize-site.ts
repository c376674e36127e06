import type { FastifyRequest } from 'fastify'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { siteDecider } from '#domain/setup/decide.ts'
import { SITE_STREAM } from '#domain/setup/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { findUserByNameKey } from '#projections/users/query.ts'
import type { Setup } from '#write-api/contract/registration-password-reset-and-setup.ts'
import { type Action, accepted, type Deps, waitUntilVisible } from '../action.ts'
import { registrationActions } from '../contract/registration-password-reset-and-setup.ts'
import { startUserSession } from '../sessions/start-session-or-require-second-factor.ts'
import { createUserAccount } from '../users/create-user-account.ts'
import { checkPassword } from '../users/passwords.ts'
import { userError } from '../users/user-errors.ts'
import { ACCOUNT_LIMITS, nameKeyOf, usernameOf } from '../users/user-names.ts'
import { setupError } from './setup-errors.ts'

const ROOT_QUOTA = 100_000_000n

/**
 * POST /api/setup: creates the super admin and stores whether the site is in self-use mode or a
 * demo site. The response contains the super admin as the user of a new session, or null if no
 * session could be started.
 */
export const initializeSite: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'POST /api/setup'),
    handler: async (request, reply) => {
      const { body, query } = request
      const header = request.headers['x-setup-token']
      const token = typeof header === 'string' ? header : (body.setup_token ?? query.token)
      if (!deps.setupToken.accepts(request, token)) throw setupError('SetupTokenRequired')
      const position = await deps.runExclusive('setup', () => initialize(deps, body, request))
      await waitUntilVisible(deps, reply, ['users', 'balances', 'options'], position)
      const nameKey = nameKeyOf(deps.core.vault, body.username)
      const root = await findUserByNameKey(deps.core.db, nameKey)
      // The read model may not include the super admin yet. In this case, the super admin has to
      // sign in.
      return success(root === null ? null : await startUserSession(deps, request, reply, root))
    },
  })
}

async function initialize(deps: Deps, setup: Setup, request: FastifyRequest): Promise<number> {
  const site = await deps.core.actors.stateOf(siteDecider, SITE_STREAM)
  if (site.isInitialized) throw setupError('AlreadyInitialized')
  const username = usernameOf(setup.username, ACCOUNT_LIMITS.usernameCharacters)
  checkPassword(setup.password)
  if (setup.password !== setup.confirmPassword) throw userError('PasswordsDiffer')
  const root = {
    username,
    displayName: username,
    password: setup.password,
    role: 100,
    quota: ROOT_QUOTA,
    reason: 'setup',
    request,
  } as const
  const context = { actor: 'system:setup', cause: request.id, at: deps.core.now() }
  const { outcome } = await createUserAccount(deps, root, context, (rootUserId) =>
    siteSteps(rootUserId, setup),
  )
  return accepted(outcome).position
}

function siteSteps(rootUserId: number, setup: Setup): AnyStep[] {
  const { SelfUseModeEnabled: isSelfUse = false, DemoSiteEnabled: isDemoSite = false } = setup
  const command = { type: 'InitializeSite', rootUserId, isSelfUse, isDemoSite }
  const flag = (key: string, value: boolean): AnyStep => ({
    decider: optionsDecider,
    stream: OPTIONS_STREAM,
    command: { type: 'SetOption', key, value: String(value) },
  })
  return [
    { decider: siteDecider, stream: SITE_STREAM, command },
    flag('SelfUseModeEnabled', isSelfUse),
    flag('DemoSiteEnabled', isDemoSite),
  ]
}
