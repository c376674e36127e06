import type { Status } from '#read-api/contract/status.ts'

export type ChatLink = { name: string; template: string }

/** Parses the option `Chats`: the names of chat clients with their link templates. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/**
 * Returns a name for a client without a name. The name is the host of the link template or, if
 * there is no host, the scheme.
 */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/**
 * Returns all chat clients: first the clients of the option `Chats`, then those of the options
 * `chat_link` and `chat_link2`. The page `/chat/0` opens the first client.
 */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

/**
 * Returns the client that the page `/chat2link` opens. This is the client of `chat_link` or
 * `chat_link2` if one is set, or else the first of all clients.
 */
export const outsideClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/**
 * Adds settings for the key and the address after `#` if the link has no `{key}`. Chat clients read
 * their settings there.
 */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Inserts this site's address and the key (with `sk-`) into a link template. Returns null if the
 * result is no link or has a scheme that browsers execute or open, such as `javascript:`.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return OF_THE_BROWSER.test(new URL(address).protocol) ? null : address
}

/**
 * URL schemes that the server also refuses. Match this pattern only against the protocol of a
 * parsed URL.
 */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** The way in which a chat client opens: in a frame, in a window, or not at all. */
export type ChatWay = 'frame' | 'window' | 'none'

/**
 * Decides how a client opens. Plain HTTP would expose the key, so a client on plain HTTP opens only
 * on this machine. Pages of this site open in a window, because a framed page would have the
 * console's rights.
 */
export function chatWay(address: string | null, ownOrigin: string): ChatWay {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}
