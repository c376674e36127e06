import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { IdentityProvider } from '#domain/identity/events.ts'
import { success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import {
  Authorize,
  AuthorizeQuery,
  CallbackQuery,
  LoginOrBindResult,
  OAuthType,
  StateQuery,
} from '../contract/oauth.ts'
import { bindIdentity } from '../users/bind-identity.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import { issueState, takeState, userOf } from './oauth-state.ts'
import { type Profile, ProviderFailed } from './provider.ts'

/**
 * GET /api/oauth/state: a state for whoever sends the browser to GitHub or LinuxDO by itself, or
 * shows Telegram's widget. OIDC needs `/api/oauth/authorize`, which sends a nonce along.
 */
export const oauthState: Action = (api, deps) => {
  api.get(
    '/api/oauth/state',
    {
      schema: {
        summary: 'A single-use state for another way in, bound to this browser',
        querystring: StateQuery,
        response: { 200: Envelope(Type.String()) },
      },
    },
    async (request, reply) => {
      const trip = { type: null, redirectUri: '' }
      const { state } = await issueState(deps, request, reply, request.query, trip)
      return success(state)
    },
  )
}

/** What a provider answers; its failures are told to the visitor in one way, and to the log. */
export async function confirmed<T>(
  { core }: Pick<Deps, 'core'>,
  provider: IdentityProvider,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error
    // NOTE: the message alone: what caused it may quote a request, with its code or secret.
    core.log.warn({ provider, why: error.message }, 'a way in by another site failed')
    throw oauthError('OAuthFailed', { provider })
  }
}

/** GET /api/oauth/authorize: where to send the browser, with state, PKCE and nonce. */
export const authorize: Action = (api, deps) => {
  api.get(
    '/api/oauth/authorize',
    {
      schema: {
        summary:
          'Where to send the browser for another way in; sets a cookie that it comes back with',
        querystring: AuthorizeQuery,
        response: { 200: Envelope(Authorize) },
      },
    },
    async (request, reply) => {
      const { type, ...purpose } = request.query
      const provider = await deps.providers.of(type)
      const redirectUri = await deps.providers.redirectUri(type)
      const trip = { type, redirectUri }
      const { state, journey } = await issueState(deps, request, reply, purpose, trip)
      const url = await confirmed(deps, type, () => provider.authorizeUrl(journey, state))
      return success({ url })
    },
  )
}

/** GET /api/oauth/{type}: logs in, registers or binds, as the state says. */
export const oauthCallback: Action = (api, deps) => {
  api.get(
    '/api/oauth/:type',
    {
      schema: {
        summary: 'Come back from another site: login data, or the message "bind"',
        params: Type.Object({ type: OAuthType }),
        querystring: CallbackQuery,
        response: { 200: Envelope(LoginOrBindResult) },
      },
    },
    async (request, reply) => {
      const { type } = request.params
      const journey = await takeState(deps, request, request.query.state, type)
      // Without the nonce of our own sending, an ID token could be anybody's.
      if (type === 'oidc' && journey.nonce === '') throw oauthError('OAuthStateInvalid')
      const { bindTo } = journey
      if (bindTo !== null && (await userOf(request)) !== bindTo) throw httpError('NotLoggedIn')
      const provider = await deps.providers.of(type)
      const profile = await confirmed(deps, type, () => provider.profileOf(journey, request.query))
      if (bindTo === null)
        return success(await loginWithIdentity(deps, request, reply, profile, journey))
      return bound(deps, request, reply, profile, bindTo)
    },
  )
}

/** Binds the identity to the user of this request, and says so as the console expects it. */
export async function bound(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { identity }: Pick<Profile, 'identity'>,
  userId: number,
) {
  const position = await bindIdentity(deps, userId, identity, contextOf(deps, request))
  await waitUntilVisible(deps, reply, ['users'], position)
  return success(null, 'bind')
}
