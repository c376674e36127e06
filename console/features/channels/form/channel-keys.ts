import type { ChannelDraft } from './channel-draft.ts'

/** The keys that were typed, one a line where there may be several; the same twice is one. */
export const keysOf = ({ key }: ChannelDraft): string[] => [
  ...new Set(
    key
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/**
 * A key is sent to the address it was given for, by the way that was set then: another address,
 * type or proxy asks for the key again.
 */
export const needsKeyAgain = (before: ChannelDraft, after: ChannelDraft): boolean =>
  before.type !== after.type ||
  cleanUrl(before.baseUrl) !== cleanUrl(after.baseUrl) ||
  proxyOf(before.setting) !== proxyOf(after.setting)

export const cleanUrl = (url: string): string => url.trim().replace(/\/+$/, '')

function proxyOf(setting: string): string {
  try {
    const value: unknown = JSON.parse(setting)
    const proxy = (value as { proxy?: unknown } | null)?.proxy
    return typeof proxy === 'string' ? proxy.trim() : ''
  } catch {
    return ''
  }
}
