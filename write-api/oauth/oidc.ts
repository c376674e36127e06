import * as oidc from 'openid-client'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import {
  type OAuthProvider,
  type Profile,
  ProviderFailed,
  plainText,
} from './oauth-provider-types.ts'
import { providerFetch } from './provider-client.ts'

/**
 * The settings of an OpenID provider. If an endpoint is empty, the discovery document's endpoint is
 * used.
 */
export type OidcSettings = {
  readonly clientId: string
  /** The client secret. It is empty for a public client, which uses only PKCE. */
  readonly clientSecret: string
  readonly wellKnown: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userInfoEndpoint: string
}

const CACHED_MS = 600_000
const STEP_SECONDS_MAX = 10

type Cached = { readonly settings: string; readonly until: number }

/**
 * Creates OpenID providers. A discovery document is cached for ten minutes, or until the settings
 * change.
 */
export function createOidc(outbound: Outbound) {
  let cached: (Cached & { readonly config: Promise<oidc.Configuration> }) | null = null
  const configOf = (settings: OidcSettings): Promise<oidc.Configuration> => {
    const key = JSON.stringify(settings)
    if (cached !== null && cached.settings === key && cached.until > performance.now())
      return cached.config
    const config = discover(outbound, settings)
    const entry = { settings: key, until: performance.now() + CACHED_MS, config }
    cached = entry
    config.catch(() => {
      if (cached === entry) cached = null
    })
    return config
  }
  return (settings: OidcSettings): OAuthProvider => oidcProvider(() => configOf(settings))
}

const oidcProvider = (configOf: () => Promise<oidc.Configuration>): OAuthProvider => ({
  authorizeUrl: async ({ redirectUri, verifier, nonce }, state) => {
    const config = await configOf().catch(failed)
    const challenge = await oidc.calculatePKCECodeChallenge(verifier)
    try {
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile',
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).href
    } catch (error) {
      // This error means that the discovery document has no authorization endpoint.
      return failed(error)
    }
  },
  profileOf: async ({ redirectUri, verifier, nonce }, callback) => {
    const config = await configOf().catch(failed)
    const url = new URL(redirectUri)
    for (const [name, value] of Object.entries(callback)) url.searchParams.set(name, value)
    // The library verifies the signature, issuer, audience, expiry and nonce of the ID token.
    const tokens = await oidc
      .authorizationCodeGrant(config, url, {
        expectedState: callback.state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      .catch(failed)
    const claims = tokens.claims()
    if (claims === undefined) throw new ProviderFailed('gave no ID token')
    const hasName = claims.preferred_username !== undefined
    const names = hasName ? claims : await userInfo(config, tokens.access_token, claims.sub)
    return profileIn(claims.iss, claims.sub, names)
  },
})

async function discover(outbound: Outbound, settings: OidcSettings): Promise<oidc.Configuration> {
  const { clientId, clientSecret } = settings
  const wellKnown = new URL(settings.wellKnown)
  const fetch = providerFetch(outbound) as unknown as oidc.CustomFetch
  // Plain HTTP is allowed, because the provider may be in the operator's own network.
  const execute = wellKnown.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  const discovered = await oidc.discovery(wellKnown, clientId, undefined, oidc.None(), {
    [oidc.customFetch]: fetch,
    execute,
    timeout: STEP_SECONDS_MAX,
  })
  const { supportsPKCE: _supports, ...metadata } = discovered.serverMetadata()
  const config = new oidc.Configuration(
    { ...metadata, ...endpointsIn(settings) },
    clientId,
    undefined,
    clientSecret === '' ? oidc.None() : authentication(clientSecret, metadata),
  )
  config[oidc.customFetch] = fetch
  config.timeout = STEP_SECONDS_MAX
  for (const step of [oidc.enableNonRepudiationChecks, ...execute]) step(config)
  return config
}

const endpointsIn = (settings: OidcSettings): Partial<oidc.ServerMetadata> => {
  const { authorizationEndpoint, tokenEndpoint, userInfoEndpoint } = settings
  return {
    ...(authorizationEndpoint === '' ? {} : { authorization_endpoint: authorizationEndpoint }),
    ...(tokenEndpoint === '' ? {} : { token_endpoint: tokenEndpoint }),
    ...(userInfoEndpoint === '' ? {} : { userinfo_endpoint: userInfoEndpoint }),
  }
}

/**
 * Returns the method with which the client authenticates. This is Basic authentication if the
 * provider supports it or names no method (OpenID Connect Core, section 9). Otherwise, the request
 * body contains the secret.
 */
function authentication(
  secret: string,
  { token_endpoint_auth_methods_supported: methods }: AuthMethods,
) {
  const isBasic = methods === undefined || methods.includes('client_secret_basic')
  return isBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
}

type AuthMethods = Pick<oidc.ServerMetadata, 'token_endpoint_auth_methods_supported'>

type Claims = Readonly<Record<string, unknown>>

/**
 * Returns the user info from the provider, or an empty object if the user info can't be read.
 * Errors are ignored, because only the names of a new user come from the user info.
 */
async function userInfo(config: oidc.Configuration, token: string, sub: string): Promise<Claims> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return {}
  try {
    return await oidc.fetchUserInfo(config, token, sub)
  } catch {
    return {}
  }
}

/**
 * Returns the profile for an ID token. The issuer and the subject together identify a person
 * permanently (OpenID Connect Core, section 5.7).
 */
const profileIn = (issuer: string, sub: string, names: Claims): Profile => ({
  identity: { provider: 'oidc', id: sub, authority: issuer },
  username: plainText(names.preferred_username) || plainText(names.nickname),
  displayName: plainText(names.name),
})

function failed(error: unknown): never {
  const code = Object(error).code ?? Object(error).name
  throw new ProviderFailed(`did not identify a user: ${String(code)}`, { cause: error })
}
