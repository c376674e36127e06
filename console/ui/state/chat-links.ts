import { translate } from '#console/i18n/i18n.ts'
import type { Status } from '#read-api/contract/status.ts'
import { showError } from '../messages/toast.ts'

export type ChatLink = { name: string; template: string }

/** Parses the option `Chats`: the names of chat clients with their link templates. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/** Returns the link's host or scheme, as the name of a client without a name. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/** The order matters, because `/chat/0` opens the first client. */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

export const externalClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/**
 * Adds a `settings` parameter to a link without `{key}`. Chat clients read the parameter from the
 * part after `#`.
 */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Returns the address of a chat client. Returns null for an invalid URL and for a scheme in
 * `BROWSER_PROTOCOLS`.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return BROWSER_PROTOCOLS.test(new URL(address).protocol) ? null : address
}

/**
 * The schemes that the browser handles itself. The console and the server refuse links with them.
 * The pattern is for the protocol of a parsed URL, not for a complete address.
 */
const BROWSER_PROTOCOLS = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

export type ChatTarget = 'frame' | 'window' | 'none'

/** `none` if plain HTTP exposes the key. `window` if a frame would have the console's rights. */
export function chatTarget(address: string | null, ownOrigin: string): ChatTarget {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}

/** Opens a client. It receives the key, but no referrer and no access to this window. */
export function openChat(address: string | null): void {
  const isWrong = chatTarget(address, window.location.origin) === 'none'
  if (address === null || isWrong) showError(translate('ui.chatLinkInvalid'))
  else window.open(address, '_blank', 'noopener,noreferrer')
}
