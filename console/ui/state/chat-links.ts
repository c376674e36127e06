import type { Status } from '#read-api/contract/status.ts'

export type ChatLink = { name: string; template: string }

/** Parses the site option `Chats`, whose entries map a client's name to a link template. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/** Returns the host of a link template, or its scheme, as the name of an unnamed client. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/** Returns the clients of the option, then the site's single links. `/chat/0` is the first. */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

/** Returns the client that `/chat2link` opens: a single link, or else the first of the list. */
export const outsideClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/** Appends the settings that chat clients read after `#` to an address without settings. */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Inserts this site's address and the key (with `sk-`) into the template. Returns null if the
 * result is not a link, or has a scheme that the browser interprets, such as `javascript:`.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return OF_THE_BROWSER.test(new URL(address).protocol) ? null : address
}

/** Schemes that the server refuses too; match only parsed URLs, where the scheme is first. */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** How a client that receives a key opens: in a frame, in a separate window, or not at all. */
export type ChatWay = 'frame' | 'window' | 'none'

/**
 * Frames only other sites over TLS, or on this machine. A framed page of this site would have the
 * console's rights, and plain HTTP would expose the key.
 */
export function chatWay(address: string | null, ownOrigin: string): ChatWay {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}
