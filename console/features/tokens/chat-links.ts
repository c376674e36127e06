export type ChatLink = { name: string; template: string }

/** What the site's option `Chats` lists: a name and a template for each client. */
export const chatLinks = (chats: readonly Readonly<Record<string, string>>[]): ChatLink[] =>
  chats.flatMap((chat) => Object.entries(chat).map(([name, template]) => ({ name, template })))

/**
 * The template with this site's address and the key (with `sk-`) put in. Null for what is no link,
 * or one that would run a script.
 */
export function chatAddress(template: string, site: string, key: string): string | null {
  const address = template
    .replaceAll('{address}', encodeURIComponent(site.replace(/\/+$/, '')))
    .replaceAll('{key}', encodeURIComponent(key))
  if (/^(?:javascript|data|vbscript|blob|file):/i.test(address.trim())) return null
  return URL.canParse(address) ? address : null
}
