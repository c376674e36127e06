import { createHash } from 'node:crypto'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import { type Ask, askProvider } from './ask-provider.ts'
import {
  type OAuthProvider,
  type Profile,
  ProviderFailed,
  plainText,
  type Trip,
} from './provider.ts'

/** One site of the plain kind: a code for a token, the token for the account. */
export type PlainSettings = {
  readonly provider: 'github' | 'linuxdo'
  readonly clientId: string
  readonly clientSecret: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userInfoEndpoint: string
}

/** OAuth 2.0 (RFC 6749, section 4.1), with PKCE for those that look at it. */
export const plainOAuth = (outbound: Outbound, settings: PlainSettings): OAuthProvider => ({
  authorizeUrl: async (trip, state) => {
    const url = new URL(settings.authorizationEndpoint)
    const challenge = createHash('sha256').update(trip.verifier).digest('base64url')
    const parameters = {
      response_type: 'code',
      client_id: settings.clientId,
      ...redirectOf(trip),
      ...SCOPES[settings.provider],
      state,
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  },
  profileOf: async (trip, { code }) => {
    const { access_token: token } = await askProvider(
      outbound,
      settings.tokenEndpoint,
      tokenRequest(settings, trip, code),
    )
    // GitHub answers 200 for a code that it refuses.
    if (typeof token !== 'string' || token === '') throw new ProviderFailed('gave no token')
    const account = await askProvider(outbound, settings.userInfoEndpoint, {
      headers: { authorization: `Bearer ${token}` },
    })
    return profileIn(settings, account)
  },
})

/** Nothing but who somebody is. */
const SCOPES = { github: { scope: 'read:user' }, linuxdo: { scope: 'user' } } as const

const redirectOf = ({ redirectUri }: Trip): Record<string, string> =>
  redirectUri === '' ? {} : { redirect_uri: redirectUri }

function tokenRequest(settings: PlainSettings, trip: Trip, code: string): Ask {
  const { provider, clientId, clientSecret } = settings
  const form = {
    grant_type: 'authorization_code',
    code,
    ...redirectOf(trip),
    ...(trip.verifier === '' ? {} : { code_verifier: trip.verifier }),
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

/** By the account's number, which stays: a login name may be given to somebody else. */
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
