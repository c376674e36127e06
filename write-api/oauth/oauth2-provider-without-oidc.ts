import { createHash } from 'node:crypto'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import {
  type AuthorizationParams,
  type OAuthProvider,
  type Profile,
  ProviderFailed,
  plainText,
} from './oauth-provider-types.ts'
import { type ProviderRequest, requestProvider } from './provider-client.ts'

/**
 * The settings of a provider without OIDC. The site exchanges a code for an access token. With this
 * token, the site reads the user's account at the provider.
 */
export type PlainSettings = {
  readonly provider: 'github' | 'linuxdo'
  readonly clientId: string
  readonly clientSecret: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userInfoEndpoint: string
}

/**
 * Creates a provider that uses OAuth 2.0 (RFC 6749, section 4.1). Requests always contain the
 * parameters of PKCE, but some providers ignore them.
 */
export const plainOAuth = (outbound: Outbound, settings: PlainSettings): OAuthProvider => ({
  authorizeUrl: async (params, state) => {
    const url = new URL(settings.authorizationEndpoint)
    const challenge = createHash('sha256').update(params.verifier).digest('base64url')
    const parameters = {
      response_type: 'code',
      client_id: settings.clientId,
      ...redirectOf(params),
      ...SCOPES[settings.provider],
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  },
  profileOf: async (params, { code }) => {
    const { access_token: token } = await requestProvider(
      outbound,
      settings.tokenEndpoint,
      tokenRequest(settings, params, code),
    )
    // GitHub responds with status 200 even if it rejects the code.
    if (typeof token !== 'string' || token === '') throw new ProviderFailed('gave no token')
    const account = await requestProvider(outbound, settings.userInfoEndpoint, {
      headers: { authorization: `Bearer ${token}` },
    })
    return profileIn(settings, account)
  },
})

/** The scopes that the site requests. They only allow the site to read who the user is. */
const SCOPES = { github: { scope: 'read:user' }, linuxdo: { scope: 'user' } } as const

const redirectOf = ({ redirectUri }: AuthorizationParams): Record<string, string> =>
  redirectUri === '' ? {} : { redirect_uri: redirectUri }

function tokenRequest(
  settings: PlainSettings,
  params: AuthorizationParams,
  code: string,
): ProviderRequest {
  const { provider, clientId, clientSecret } = settings
  const form = {
    grant_type: 'authorization_code',
    code,
    ...redirectOf(params),
    ...(params.verifier === '' ? {} : { code_verifier: params.verifier }),
  }
  if (provider === 'github') {
    return {
      method: 'POST',
      form: { ...form, client_id: clientId, client_secret: clientSecret },
    }
  }
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  return { method: 'POST', form, headers: { authorization: `Basic ${basic}` } }
}

/**
 * Returns the profile in a provider's account data. The numeric account id identifies the user,
 * because a login name may later belong to another person.
 */
function profileIn(
  { provider, authorizationEndpoint }: PlainSettings,
  account: Readonly<Record<string, unknown>>,
): Profile {
  const { id } = account
  if (!Number.isSafeInteger(id) || Number(id) <= 0) throw new ProviderFailed('gave no account')
  const login = provider === 'github' ? account.login : account.username
  return {
    identity: { provider, id: String(id), authority: new URL(authorizationEndpoint).origin },
    username: plainText(login),
    displayName: plainText(account.name),
  }
}
