import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export type OidcSite = {
  readonly issuer: string
  readonly wellKnown: string
  /** The account that logs in. */
  who: string
  readonly close: () => Promise<void>
}

export const OIDC_CLIENT = { id: 'tallygate', secret: 'oidc-client-secret-0123456789abcdef' }

/** A real OpenID provider that requires PKCE and logs users in without a password. */
export async function startOidcSite(redirectUri: string): Promise<OidcSite> {
  let handle: ReturnType<Provider['callback']> = async () => {}
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const site = {
    issuer,
    wellKnown: `${issuer}/.well-known/openid-configuration`,
    who: 'subject-1',
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const provider = createProvider(issuer, redirectUri)
  const answer = provider.callback()
  handle = async (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return answer(request, response)
    const login = { accountId: site.who }
    await provider.interactionFinished(request, response, { login })
  }
  return site
}

function createProvider(issuer: string, redirectUri: string): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['a-test-key'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 60,
      Session: 600,
    },
    pkce: { required: () => true },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, preferred_username: `${sub}@oidc`, name: `Name of ${sub}` }),
    }),
    loadExistingGrant: async (context) => {
      const { client, account } = context.oidc
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId,
        accountId: account?.accountId,
      })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
}
