import type { Status } from '#read-api/contract/status.ts'

export type ChatLink = { name: string; template: string }

/** What the site's option `Chats` lists: a name and a template for each client. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) =>
    Object.entries(chat).map(([name, template]) => ({
      name: name.trim() === '' ? hostOf(template) : name,
      template,
    })),
  )

/** What a client without a name of its own is called: its host, else its scheme. */
function hostOf(template: string): string {
  if (!URL.canParse(template)) return template
  const { host, protocol } = new URL(template)
  return host || protocol.slice(0, -1)
}

/** The list, and after it the site's single links, by their hosts. `/chat/0` is the first. */
export function chatClients(status: Status | undefined): ChatLink[] {
  if (status === undefined) return []
  return [...chatLinks(status.chats), ...singleLinks(status)]
}

/** Where `/chat2link` leads: to a single link, else to the first of the list. */
export const outsideClient = (status: Status | undefined): ChatLink | undefined =>
  status === undefined ? undefined : (singleLinks(status)[0] ?? chatClients(status)[0])

const singleLinks = ({ chat_link, chat_link2 }: Status): ChatLink[] =>
  [chat_link, chat_link2].flatMap((link) =>
    URL.canParse(link) ? [{ name: hostOf(link), template: withSettings(link) }] : [],
  )

/** An address alone is given what the clients of this field take: their settings, behind `#`. */
const withSettings = (link: string): string =>
  link.includes('{key}')
    ? link
    : `${link.replace(/\/+$/, '')}/#/?settings={"key":"{key}","url":"{address}"}`

/**
 * The template with this site's address and the key (with `sk-`) put in. Null for what is no link,
 * or one that a browser opens itself, such as a script or an empty page.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (!URL.canParse(address)) return null
  return OF_THE_BROWSER.test(new URL(address).protocol) ? null : address
}

/** As the server refuses them; by the parsed scheme, for browsers skip what stands before it. */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** How a client is reached that gets a key: in a frame, in a window of its own, or not at all. */
export type ChatWay = 'frame' | 'window' | 'none'

/**
 * A frame is for another site over TLS (or one on this machine): a page of ours in it could do what
 * we can, and over plain HTTP others would read the key.
 */
export function chatWay(address: string | null, ownOrigin: string): ChatWay {
  if (address === null) return 'none'
  const { protocol, origin, hostname } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'window'
  const isPrivate = protocol === 'https:' || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (!isPrivate) return 'none'
  return origin === ownOrigin ? 'window' : 'frame'
}
