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

/** Returns the host or the scheme of a link, which is shown for a chat client without a name. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/**
 * Returns the chat clients in the order of the option. The order must not change, because `/chat/0`
 * opens the first client.
 */
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
 * Adds the parameter `settings`, which contains the key and the site's address, to a link without
 * `{key}`. Chat clients read it from the part of the URL after `#`.
 */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Returns the URL that opens a chat client with a key. Returns null if it is invalid or has a
 * scheme that is not permitted (`BROWSER_PROTOCOLS`).
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return BROWSER_PROTOCOLS.test(new URL(address).protocol) ? null : address
}

/**
 * Schemes that the browser handles itself, which could run a script or show a file. Links must not
 * have them, in the console and on the server. The pattern matches the protocol of a parsed URL.
 */
const BROWSER_PROTOCOLS = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

export type ChatTarget = 'frame' | 'window' | 'none'

/**
 * Returns where a chat client may be opened. It is `none` if the key would be sent over plain HTTP,
 * and `window` if a frame would get the rights of the console.
 */
export function chatTarget(address: string | null, ownOrigin: string): ChatTarget {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}

/**
 * Opens a chat client in a new window. The client receives the key, but neither a referrer nor
 * access to this window.
 */
export function openChat(address: string | null): void {
  const isWrong = chatTarget(address, window.location.origin) === 'none'
  if (address === null || isWrong) showError(translate('ui.chatLinkInvalid'))
  else window.open(address, '_blank', 'noopener,noreferrer')
}
