/** Of more, every word of an error is taken for an echo: the next call will tell. */
const LOOKED_AT_BYTES_MAX = 1024 * 1024

/**
 * Whether what an error says may be the caller's own words, repeated: letters and digits alone are
 * compared, of all texts of the request one behind the other, so that neither an escape nor a
 * text cut in pieces hides where they come from.
 */
export function isEcho(said: string, requestBody: Buffer): boolean {
  if (requestBody.length > LOOKED_AT_BYTES_MAX || requestBody.includes(said)) return true
  const texts: Texts = { all: [], prose: [] }
  try {
    gather('', JSON.parse(requestBody.toString('utf8')), texts)
  } catch {
    return true
  }
  const wanted = bare(said)
  const holds = (parts: readonly string[]): boolean => bare(parts.join('')).includes(wanted)
  return wanted !== '' && (holds(texts.all) || holds(texts.prose))
}

/** Whatever is text in the request; and what a model reads as one, without the names between. */
type Texts = { readonly all: string[]; readonly prose: string[] }

const PROSE_KEYS: ReadonlySet<string> = new Set(['content', 'text', 'input', 'prompt'])

const bare = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

function gather(key: string, value: unknown, texts: Texts): void {
  if (typeof value === 'string' || typeof value === 'number') {
    texts.all.push(String(value))
    if (PROSE_KEYS.has(key)) texts.prose.push(String(value))
  } else if (Array.isArray(value)) for (const item of value) gather(key, item, texts)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      texts.all.push(name)
      gather(name, member, texts)
    }
  }
}
