import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IdentityProvider } from '#domain/identities/events.ts'
import { contextOfUser } from '#infra/http/command-context.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, type Deps, waitUntilVisible } from '../action.ts'
import { oauthActions } from '../contract/oauth.ts'
import { countFailures, unknownUser } from '../sessions/record-failed-logins.ts'
import { bindIdentity } from '../users/bind-and-unbind-identities.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import { type Profile, ProviderFailed } from './oauth-provider-types.ts'
import { consumeState, issueState, userOf } from './oauth-state.ts'

/**
 * GET /api/oauth/state: issues a state, which is a one-time value against forged callbacks. The
 * route is for clients that redirect the browser themselves (GitHub, LinuxDO) or show the Telegram
 * widget. OIDC requires `/api/oauth/authorize`, which also issues a nonce.
 */
export const oauthState: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/state'),
    handler: async (request, reply) => {
      const target = { type: null, redirectUri: '' }
      const { state } = await issueState(deps, request, reply, request.query, target)
      return success(state)
    },
  })
}

/**
 * Runs `ask`, which sends a request to a login provider. If the provider fails, throws the error
 * for the visitor. This error is the same for every failure; only the log contains the reason.
 */
export async function callProvider<T>(
  { core }: Pick<Deps, 'core'>,
  provider: IdentityProvider,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error
    // NOTE: only the error's message is logged. The error's cause may contain a code or a secret.
    core.log.warn({ provider, why: error.message }, 'login with an OAuth provider failed')
    throw oauthError('OAuthFailed', { provider })
  }
}

/**
 * GET /api/oauth/authorize: returns the provider's URL with the state, the PKCE challenge and, for
 * OIDC, the nonce.
 */
export const authorize: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/authorize'),
    handler: async (request, reply) => {
      const { type, ...purpose } = request.query
      const provider = await deps.providers.of(type)
      const redirectUri = await deps.providers.redirectUri(type)
      const target = { type, redirectUri }
      const { state, flow } = await issueState(deps, request, reply, purpose, target)
      const url = await callProvider(deps, type, () => provider.authorizeUrl(flow, state))
      return success({ url })
    },
  })
}

/**
 * GET /api/oauth/{type}: the callback to which the provider redirects the browser. Signs a user in,
 * registers a new user, or binds an identity.
 */
export const oauthCallback: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/:type'),
    handler: (request, reply) =>
      countFailures(deps, request, unknownUser, async () => {
        const { type } = request.params
        const flow = await consumeState(deps, request, request.query.state, type)
        // Without a nonce from this server, an attacker could replay the ID token of another login.
        if (type === 'oidc' && flow.nonce === '') throw oauthError('OAuthStateInvalid')
        const { bindTo } = flow
        if (bindTo !== null && (await userOf(request)) !== bindTo) throw httpError('NotLoggedIn')
        const provider = await deps.providers.of(type)
        const ask = () => provider.profileOf(flow, request.query)
        const profile = await callProvider(deps, type, ask)
        if (bindTo === null)
          return success(await loginWithIdentity(deps, request, reply, profile, flow))
        return bindAndRespond(deps, request, reply, profile, bindTo)
      }),
  })
}

/**
 * Binds an identity to the user and returns the response. The console recognizes this response by
 * the message `bind`.
 */
export async function bindAndRespond(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { identity }: Pick<Profile, 'identity'>,
  userId: number,
) {
  // The context is created here, because a route may find the user only after the hooks that
  // encrypt the client's address have run.
  const context = await contextOfUser(deps.core, request, userId)
  const position = await bindIdentity(deps, userId, identity, context)
  await waitUntilVisible(deps, reply, ['users'], position)
  return success(null, 'bind')
}
