import type { Core } from '#infra/core.ts'
import { createOutbound, type Outbound } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import { fetchJson } from '../fetch-json.ts'

const KNOWN_MS = 600_000
const FAILED_MS = 60_000
const LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  maxResponseBytes: 512 * 1024,
}

export type OidcEndpoint = {
  /** What is known of the document at this address by now: empty until it answered. */
  readonly of: (wellKnown: string) => string
  readonly close: () => Promise<void>
}

type Asked = { readonly wellKnown: string; endpoint: string; againAt: number }

/**
 * The authorization endpoint that an OpenID provider's discovery document names. Whoever asks never
 * waits: the document is fetched beside, every ten minutes, or a minute after it could not be.
 */
export function createOidcEndpoint({ config, now }: Pick<Core, 'config' | 'now'>): OidcEndpoint {
  let outbound: Outbound | null = null
  let asked: Asked | null = null
  const ask = async (about: Asked): Promise<void> => {
    about.againAt = now() + FAILED_MS
    outbound ??= createOutbound(operatorPolicy(config), LIMITS)
    const endpoint = await fetchEndpoint(outbound, about.wellKnown)
    if (endpoint === null) return
    about.endpoint = endpoint
    about.againAt = now() + KNOWN_MS
  }
  return {
    of: (wellKnown) => {
      if (wellKnown === '') return ''
      if (asked?.wellKnown !== wellKnown) asked = { wellKnown, endpoint: '', againAt: 0 }
      if (asked.againAt <= now()) void ask(asked)
      return asked.endpoint
    },
    close: async () => outbound?.close(),
  }
}

/** null when the document can't be had, or names no web address. Never rejects. */
async function fetchEndpoint(outbound: Outbound, url: string): Promise<string | null> {
  const named: unknown = Object(await fetchJson(outbound, url)).authorization_endpoint
  return isWebAddress(named) ? named : null
}

const isWebAddress = (named: unknown): named is string =>
  typeof named === 'string' &&
  named.length <= 2_000 &&
  URL.canParse(named) &&
  /^https?:$/.test(new URL(named).protocol)
