import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import { cleanUrl } from './channel-keys.ts'

/** Shown in a URL in place of a part that is not known yet. */
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
  // The model, and the place in a cloud, are known only when a call is sent.
  return `${base}${path.replace('{other}', () => filled).replace(/\{\w+\}/g, UNKNOWN)}`
}

/** Returns true if the address ends with `/v1`. The relay then does not add `/v1` to it. */
export const endsWithVersion = (url: string): boolean => /\/v1$/.test(cleanUrl(url))
