import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import { cleanUrl } from './channel-keys.ts'

/** The text that a displayed URL contains in place of a part that is not known yet. */
const UNKNOWN = '…'

export function upstreamUrl(type: ChannelType | undefined, baseUrl: string, other = ''): string {
  if (type === undefined) return ''
  const typed = cleanUrl(baseUrl)
  const named = type.bases.find(({ keyword }) => keyword === typed)?.base_url
  const base = named ?? (typed === '' ? type.base_url : typed)
  if (!URL.canParse(base)) return ''
  const isVersioned = base.endsWith('/v1') && type.chat_path.startsWith('/v1/')
  const path = isVersioned ? type.chat_path.slice('/v1'.length) : type.chat_path
  const filled = other.trim() === '' ? UNKNOWN : encodeURIComponent(other.trim())
  // Other placeholders, such as the model and the cloud region, are filled in only when a call is
  // sent.
  return `${base}${path.replace('{other}', () => filled).replace(/\{\w+\}/g, UNKNOWN)}`
}

/**
 * Reports whether an address ends with `/v1`. Calls to such an address do not get a second `/v1`.
 */
export const endsWithVersion = (url: string): boolean => /\/v1$/.test(cleanUrl(url))
