const LENGTH_MAX = 2_000

/**
 * A link of a chat client, with `{address}` and `{key}` where they will stand: an https address, or
 * a scheme of a client's own that can't run script. Each of them gets a key.
 */
export function isChatLink(link: string): boolean {
  if (link.length > LENGTH_MAX || !/^[a-z][a-z0-9+.-]{0,30}:\S/i.test(link)) return false
  if (OF_THE_BROWSER.test(link)) return false
  if (/^http:/i.test(link) && !HERE.test(link)) return false
  const filled = link.replaceAll('{address}', 'https%3A%2F%2Fa.example').replaceAll('{key}', 'sk-a')
  if (!URL.canParse(filled)) return false
  const { username, password, protocol } = new URL(filled)
  return !/^https?:$/.test(protocol) || (username === '' && password === '')
}

/** What a browser opens itself: script, text that is given to it, files, or no client at all. */
const OF_THE_BROWSER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):/i

/** On this machine alone nobody on the way reads the key. */
const HERE = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?#]|$)/i
