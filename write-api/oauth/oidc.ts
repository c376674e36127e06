import * as oidc from 'openid-client'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import { providerFetch } from './ask-provider.ts'
import { type OAuthProvider, type Profile, ProviderFailed, plainText } from './provider.ts'

/** The endpoints may be empty: those that the discovery document names. */
export type OidcSettings = {
  readonly clientId: string
  /** Empty: a public client, held by PKCE alone. */
  readonly clientSecret: string
  readonly wellKnown: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userInfoEndpoint: string
}

const CACHED_MS = 600_000
const STEP_SECONDS_MAX = 10

type Cached = { readonly settings: string; readonly until: number }

/** What discovery answered is asked for again after ten minutes, or for other settings. */
export function createOidc(outbound: Outbound) {
  let cached: (Cached & { readonly config: Promise<oidc.Configuration> }) | null = null
  const configOf = (settings: OidcSettings): Promise<oidc.Configuration> => {
    const key = JSON.stringify(settings)
    if (cached !== null && cached.settings === key && cached.until > performance.now())
      return cached.config
    const config = discover(outbound, settings)
    const made = { settings: key, until: performance.now() + CACHED_MS, config }
    cached = made
    config.catch(() => {
      if (cached === made) cached = null
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
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      }).href
    } catch (error) {
      // A discovery document that names no place to send anybody to.
      return failed(error)
    }
  },
  profileOf: async ({ redirectUri, verifier, nonce }, back) => {
    const config = await configOf().catch(failed)
    const url = new URL(redirectUri)
    for (const [name, value] of Object.entries(back)) url.searchParams.set(name, value)
    // Signature, issuer, audience, expiry and nonce of the ID token are checked here.
    const tokens = await oidc
      .authorizationCodeGrant(config, url, {
        expectedState: back.state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      .catch(failed)
    const claims = tokens.claims()
    if (claims === undefined) throw new ProviderFailed('gave no ID token')
    const named = claims.preferred_username !== undefined
    const names = named ? claims : await userInfo(config, tokens.access_token, claims.sub)
    return profileIn(claims.iss, claims.sub, names)
  },
})

async function discover(outbound: Outbound, settings: OidcSettings): Promise<oidc.Configuration> {
  const { clientId, clientSecret } = settings
  const wellKnown = new URL(settings.wellKnown)
  const fetch = providerFetch(outbound) as unknown as oidc.CustomFetch
  // An installation's own provider may speak plain HTTP on its own network.
  const execute = wellKnown.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  const found = await oidc.discovery(wellKnown, clientId, undefined, oidc.None(), {
    [oidc.customFetch]: fetch,
    execute,
    timeout: STEP_SECONDS_MAX,
  })
  const { supportsPKCE: _supports, ...named } = found.serverMetadata()
  const config = new oidc.Configuration(
    { ...named, ...endpointsIn(settings) },
    clientId,
    undefined,
    clientSecret === '' ? oidc.None() : authentication(clientSecret, named),
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

/** Basic is what a provider takes (OpenID Connect Core, section 9) unless it says otherwise. */
function authentication(secret: string, { token_endpoint_auth_methods_supported: known }: Known) {
  const isBasic = known === undefined || known.includes('client_secret_basic')
  return isBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
}

type Known = Pick<oidc.ServerMetadata, 'token_endpoint_auth_methods_supported'>

type Claims = Readonly<Record<string, unknown>>

/** Names alone are at stake: whoever is known comes in without them. */
async function userInfo(config: oidc.Configuration, token: string, sub: string): Promise<Claims> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return {}
  try {
    return await oidc.fetchUserInfo(config, token, sub)
  } catch {
    return {}
  }
}

/** By issuer and subject, which together are one person for ever (Core, section 5.7). */
const profileIn = (issuer: string, sub: string, names: Claims): Profile => ({
  identity: { provider: 'oidc', id: sub, authority: issuer },
  username: plainText(names.preferred_username) || plainText(names.nickname),
  displayName: plainText(names.name),
})

function failed(error: unknown): never {
  const code = Object(error).code ?? Object(error).name
  throw new ProviderFailed(`did not confirm anybody: ${String(code)}`, { cause: error })
}
