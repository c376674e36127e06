import { translate } from '#console/i18n/i18n.ts'
import type { Status } from '#read-api/contract/status.ts'
import { showError } from '../messages/toast.ts'

export type ChatLink = { name: string; template: string }

/**
 * Converts the entries of the option `Chats` to chat clients. Each entry maps names of clients to
 * the templates of their links.
 */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/**
 * Returns the host of a link, or the scheme of a link without a host. An invalid link is returned
 * unchanged. This text is shown for a chat client without a name.
 */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/**
 * Returns the chat clients in the order of the option `Chats`, followed by the clients of
 * `chat_link` and `chat_link2`. The order must be kept, because `/chat/0` opens the first client.
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
 * Returns a link with the parameter `settings`, which contains placeholders for the key and the
 * address of the site. A link that contains `{key}` is returned unchanged. Chat clients read this
 * parameter from the part of the URL after `#`.
 */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Returns the URL that opens a chat client with a key. Returns null if the URL is invalid or its
 * scheme is one of `BROWSER_PROTOCOLS`.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return BROWSER_PROTOCOLS.test(new URL(address).protocol) ? null : address
}

/**
 * Matches the protocols of URLs that could make the browser run a script or open a local file.
 * Neither the console nor the server allows links with such a protocol.
 */
const BROWSER_PROTOCOLS = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

type ChatTarget = 'frame' | 'window' | 'none'

/**
 * Returns where a chat client may be opened. The result is `none` if `address` is null or the key
 * would be sent over plain HTTP. The result is `window` (only in a new window) if a frame would not
 * work, or would give the client the rights of the console. In all other cases, the result is
 * `frame`.
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
 * Opens a chat client in a new window. The client gets the key, but no referrer and no access to
 * this window. If `chatTarget` is `none` for the address, shows an error instead.
 */
export function openChat(address: string | null): void {
  const isWrong = chatTarget(address, window.location.origin) === 'none'
  if (address === null || isWrong) showError(translate('ui.chatLinkInvalid'))
  else window.open(address, '_blank', 'noopener,noreferrer')
}
