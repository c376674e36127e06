/**
 * The maximum length in bytes of a request that is searched. For a longer request, every error is
 * assumed to repeat the request.
 */
const LOOKED_AT_BYTES_MAX = 1024 * 1024

/**
 * Reports whether an excerpt of an error may repeat the caller's request. Only letters and digits
 * are compared, so that escapes can't hide a repetition. The request's texts are joined, because an
 * excerpt may span several texts. Returns true if the request is not JSON.
 */
export function mayRepeatRequest(excerpt: string, requestBody: Buffer): boolean {
  if (requestBody.length > LOOKED_AT_BYTES_MAX || requestBody.includes(excerpt)) return true
  const texts: Texts = { all: [], prose: [] }
  try {
    collect('', JSON.parse(requestBody.toString('utf8')), texts)
  } catch {
    return true
  }
  const needle = lettersAndDigits(excerpt)
  const holds = (parts: readonly string[]): boolean =>
    lettersAndDigits(parts.join('')).includes(needle)
  return needle !== '' && (holds(texts.all) || holds(texts.prose))
}

/**
 * `all` contains every text and member name. `prose` contains only the texts that a model reads.
 */
type Texts = { readonly all: string[]; readonly prose: string[] }

const PROSE_KEYS: ReadonlySet<string> = new Set(['content', 'text', 'input', 'prompt'])

const lettersAndDigits = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

function collect(key: string, value: unknown, texts: Texts): void {
  if (typeof value === 'string' || typeof value === 'number') {
    texts.all.push(String(value))
    if (PROSE_KEYS.has(key)) texts.prose.push(String(value))
  } else if (Array.isArray(value)) for (const item of value) collect(key, item, texts)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      texts.all.push(name)
      collect(name, member, texts)
    }
  }
}
