import { parseObject } from '#console/api/parse-json-object.ts'
import type { ChannelDraft } from './channel-draft.ts'

export const keysOf = ({ key }: ChannelDraft): string[] => [
  ...new Set(
    key
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/**
 * Reports whether the admin must enter the provider's key again, because the type, the address or
 * the proxy of the channel was changed. Otherwise, the stored key could be sent to another server.
 */
export const needsKeyReentry = (before: ChannelDraft, after: ChannelDraft): boolean =>
  before.type !== after.type ||
  cleanUrl(before.baseUrl) !== cleanUrl(after.baseUrl) ||
  proxyOf(before.setting) !== proxyOf(after.setting)

export const cleanUrl = (url: string): string => url.trim().replace(/\/+$/, '')

function proxyOf(setting: string): string {
  const proxy = parseObject(setting)?.proxy
  return typeof proxy === 'string' ? proxy.trim() : ''
}
