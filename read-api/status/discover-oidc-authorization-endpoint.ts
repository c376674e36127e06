import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound, type Outbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { fetchJson } from '../fetch-json.ts'

const REFRESH_MS = 600_000
const RETRY_MS = 60_000
const LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  maxResponseBytes: 512 * 1024,
}

export type OidcAuthorizationEndpoint = {
  /**
   * Returns the authorization endpoint in the discovery document at this address. Returns an empty
   * text until the document has been fetched.
   */
  readonly of: (wellKnown: string) => string
  readonly close: () => Promise<void>
}

type CachedEndpoint = { readonly wellKnown: string; endpoint: string; refreshAt: number }

/**
 * Caches the authorization endpoint of an OpenID provider. The provider's discovery document is
 * fetched in the background, so requests never wait for the document. The document is fetched again
 * after ten minutes, or after one minute if fetching failed.
 */
export function createOidcAuthorizationEndpoint({
  config,
  now,
}: Pick<Core, 'config' | 'now'>): OidcAuthorizationEndpoint {
  let outbound: Outbound | null = null
  let cached: CachedEndpoint | null = null
  const refresh = async (entry: CachedEndpoint): Promise<void> => {
    entry.refreshAt = now() + RETRY_MS
    outbound ??= createOutbound(operatorPolicy(config), LIMITS)
    const endpoint = await fetchEndpoint(outbound, entry.wellKnown)
    if (endpoint === null) return
    entry.endpoint = endpoint
    entry.refreshAt = now() + REFRESH_MS
  }
  return {
    of: (wellKnown) => {
      if (wellKnown === '') return ''
      if (cached?.wellKnown !== wellKnown) cached = { wellKnown, endpoint: '', refreshAt: 0 }
      if (cached.refreshAt <= now()) void refresh(cached)
      return cached.endpoint
    },
    close: async () => outbound?.close(),
  }
}

/**
 * Fetches the discovery document and returns its authorization endpoint. Returns null if fetching
 * fails or the document contains no valid endpoint. Never rejects.
 */
async function fetchEndpoint(outbound: Outbound, url: string): Promise<string | null> {
  const value: unknown = Object(await fetchJson(outbound, url)).authorization_endpoint
  return isWebAddress(value) ? value : null
}

const isWebAddress = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= 2_000 &&
  URL.canParse(value) &&
  /^https?:$/.test(new URL(value).protocol)
