import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import { cleanUrl } from './channel-draft.ts'

/** The text in place of an unknown part of a displayed URL. */
const UNKNOWN = '…'

export function upstreamUrl(type: ChannelType | undefined, baseUrl: string, other = ''): string {
  if (type === undefined) return ''
  const enteredUrl = cleanUrl(baseUrl)
  const namedBaseUrl = type.bases.find(({ keyword }) => keyword === enteredUrl)?.base_url
  const base = namedBaseUrl ?? (enteredUrl === '' ? type.base_url : enteredUrl)
  if (!URL.canParse(base)) return ''
  const isVersioned = base.endsWith('/v1') && type.chat_path.startsWith('/v1/')
  const path = isVersioned ? type.chat_path.slice('/v1'.length) : type.chat_path
  const filled = other.trim() === '' ? UNKNOWN : encodeURIComponent(other.trim())
  // Other placeholders, such as the model and the cloud region, are filled in only when a call is
  // sent.
  return `${base}${path.replace('{other}', () => filled).replace(/\{\w+\}/g, UNKNOWN)}`
}

/**
 * Reports whether an address ends with `/v1`. In that case, the `/v1` at the start of the path of a
 * call is not added to the address.
 */
export const endsWithV1 = (url: string): boolean => /\/v1$/.test(cleanUrl(url))
