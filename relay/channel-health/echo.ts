/**
 * Larger requests are not searched: the error text is then treated as an echo, and a later call
 * decides.
 */
const LOOKED_AT_BYTES_MAX = 1024 * 1024

/**
 * Reports whether the text of an error may repeat the caller's own words. Only letters and digits
 * are compared, and all texts of the request are joined, so that neither escapes nor texts cut into
 * pieces hide where the words come from.
 */
export function isEcho(said: string, requestBody: Buffer): boolean {
  if (requestBody.length > LOOKED_AT_BYTES_MAX || requestBody.includes(said)) return true
  const texts: Texts = { all: [], prose: [] }
  try {
    collect('', JSON.parse(requestBody.toString('utf8')), texts)
  } catch {
    return true
  }
  const wanted = lettersAndDigits(said)
  const holds = (parts: readonly string[]): boolean =>
    lettersAndDigits(parts.join('')).includes(wanted)
  return wanted !== '' && (holds(texts.all) || holds(texts.prose))
}

/**
 * All texts of the request, and the texts that a model reads as prose, without the member names in
 * between.
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
