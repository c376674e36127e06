import type { ChannelTerms } from '#domain/channel/events.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/guard.ts'
import { PROFILES } from './profiles.ts'

/** Where and how a channel is called; made once per change of the channel. */
export type ProviderTarget = {
  readonly origin: string
  readonly path: string
  /** Flat name and value pairs. */
  readonly headers: readonly string[]
  readonly isOutputTotalLessPrompt: boolean
}

/** null when the relay can't call it: no such format, no address, or one the policy refuses. */
export function providerTarget(
  terms: ChannelTerms,
  key: string,
  policy: OutboundPolicy,
): ProviderTarget | null {
  const profile = PROFILES.get(terms.type)
  const base = terms.baseUrl === '' ? profile?.baseUrl : terms.baseUrl
  if (profile === undefined || base === undefined || base === null) return null
  const checked = checkUrl(base, policy)
  if (!checked.isAllowed || !isHeaderText(key) || !isHeaderText(terms.organization)) return null
  const { url } = checked
  // An address that already ends in the version is meant as such.
  const prefix = url.pathname.replace(/\/+$/, '')
  const isVersioned = prefix.endsWith('/v1') && profile.chatPath.startsWith('/v1/')
  const path = `${prefix}${isVersioned ? profile.chatPath.slice(3) : profile.chatPath}`
  const organization = terms.organization === '' ? [] : ['openai-organization', terms.organization]
  return {
    origin: url.origin,
    path: `${path}${url.search}`,
    headers: [
      'content-type',
      'application/json',
      'authorization',
      `Bearer ${key}`,
      'accept-encoding',
      'identity',
      'user-agent',
      'tallygate',
      ...organization,
    ],
    isOutputTotalLessPrompt: profile.isOutputTotalLessPrompt ?? false,
  }
}

/** Visible ASCII: anything else could break out of a header, or be refused by the client. */
const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
