import { defaultOf, optionFlag, optionValue } from '#domain/options/option-registry.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { allOptions } from '#projections/options/query.ts'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { oauthError } from './oauth-errors.ts'
import type { OAuthProvider } from './oauth-provider-types.ts'
import { plainOAuth } from './oauth2-provider-without-oidc.ts'
import { createOidc } from './oidc.ts'

/** The names of the options that configure one provider. */
type OptionNames = {
  readonly flag: string
  readonly clientId: string
  readonly clientSecret: string
  readonly authorize: string
  readonly token: string
  readonly userInfo: string
}

const OPTION_NAMES: Record<OAuthType, OptionNames> = {
  github: {
    flag: 'GitHubOAuthEnabled',
    clientId: 'GitHubClientId',
    clientSecret: 'GitHubClientSecret',
    authorize: 'github.authorization_endpoint',
    token: 'github.token_endpoint',
    userInfo: 'github.user_info_endpoint',
  },
  linuxdo: {
    flag: 'LinuxDOOAuthEnabled',
    clientId: 'LinuxDOClientId',
    clientSecret: 'LinuxDOClientSecret',
    authorize: 'linuxdo.authorization_endpoint',
    token: 'linuxdo.token_endpoint',
    userInfo: 'linuxdo.user_info_endpoint',
  },
  oidc: {
    flag: 'oidc.enabled',
    clientId: 'oidc.client_id',
    clientSecret: 'oidc.client_secret',
    authorize: 'oidc.authorization_endpoint',
    token: 'oidc.token_endpoint',
    userInfo: 'oidc.user_info_endpoint',
  },
}

export type Providers = {
  /**
   * Returns a provider with its current settings. Throws if the provider is disabled or a setting
   * is missing.
   */
  readonly of: (type: OAuthType) => Promise<OAuthProvider>
  /**
   * Returns the redirect URI of a provider. If the site's address is not configured, throws for
   * OIDC and returns an empty text for all other providers.
   */
  readonly redirectUri: (type: OAuthType) => Promise<string>
}

export function createProviders(
  core: Pick<Core, 'db' | 'vault' | 'now'>,
  outbound: Outbound,
): Providers {
  const oidc = createOidc(outbound)
  return {
    of: async (type) => {
      const { values, secretRefs } = await allOptions(core.db)
      const keys = OPTION_NAMES[type]
      if (!optionFlag(values, keys.flag)) throw oauthError('WayInClosed', { provider: type })
      const address = (key: string) => optionValue(values, key) || defaultOf(key)
      const common = {
        clientId: optionValue(values, keys.clientId),
        clientSecret: await readSecretOption(core, secretRefs, keys.clientSecret),
        authorizationEndpoint: address(keys.authorize),
        tokenEndpoint: address(keys.token),
        userInfoEndpoint: address(keys.userInfo),
      }
      const wellKnown = optionValue(values, 'oidc.well_known')
      const isComplete = type === 'oidc' ? wellKnown !== '' : common.clientSecret !== ''
      if (common.clientId === '' || !isComplete)
        throw oauthError('OAuthNotSetUp', { provider: type })
      return type === 'oidc'
        ? oidc({ ...common, wellKnown })
        : plainOAuth(outbound, { ...common, provider: type })
    },
    redirectUri: async (type) => {
      const { values } = await allOptions(core.db)
      const siteAddress = optionValue(values, 'ServerAddress').replace(/\/+$/, '')
      // OIDC requires a redirect URI in the request (OpenID Connect Core, section 3.1.2.1). For
      // other providers, the URI in the provider's own configuration is sufficient.
      if (siteAddress === '' && type === 'oidc')
        throw oauthError('OAuthNotSetUp', { provider: type })
      return siteAddress === '' ? '' : `${siteAddress}/oauth/${type}`
    },
  }
}
