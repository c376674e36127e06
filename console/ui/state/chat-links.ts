import type { Status } from '#read-api/contract/status.ts'

export type ChatLink = { name: string; template: string }

/** An entry of the site's option `Chats`: the name of a client and its link template. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/** The name of a client that has none: its host, else its scheme. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/** The list, followed by the site's single links under their hosts. `/chat/0` is the first. */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

/** The target of `/chat2link`: a single link, else the first of the list. */
export const outsideClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/** Appends the settings that clients of this field read behind `#` to a bare address. */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * Fills this site's address and the key (with `sk-`) into the template. Returns null if the result
 * is not a link, or is one that the browser itself interprets, such as a script or an empty page.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return OF_THE_BROWSER.test(new URL(address).protocol) ? null : address
}

/** The server refuses the same. The parsed scheme counts: browsers skip characters before it. */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** The way to open a client that gets a key: in a frame, in a separate window, or not at all. */
export type ChatWay = 'frame' | 'window' | 'none'

/**
 * Only another site over TLS (or one on this machine) is framed: a page of this site in a frame
 * would have the console's rights, and plain HTTP would expose the key.
 */
export function chatWay(address: string | null, ownOrigin: string): ChatWay {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}
