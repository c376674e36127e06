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

/** A client without a name is named by the link's host or scheme. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/**
 * First the clients of `Chats`, then those of `chat_link` and `chat_link2`. `/chat/0` opens the
 * first client.
 */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

/** `/chat2link` opens the client of `chat_link` or `chat_link2`, or else the first of all. */
export const outsideClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/** Without `{key}` in the link, chat clients read their settings after `#`. */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * The key gets `sk-`. Returns null if the result is no link or has a scheme that browsers execute
 * or open, such as `javascript:`.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return OF_THE_BROWSER.test(new URL(address).protocol) ? null : address
}

/** The server also refuses these schemes. Match only the protocol of a parsed URL. */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

export type ChatWay = 'frame' | 'window' | 'none'

/**
 * Plain HTTP would expose the key, so such a client opens only on this machine. Pages of this site
 * open in a window, because a framed page would have the console's rights.
 */
export function chatWay(address: string | null, ownOrigin: string): ChatWay {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}
