import { randomInt } from 'node:crypto'
import { KEY_ALPHABET } from '#domain/token/key-format.ts'
import { TOKEN_NAME_MAX } from '#write-api/contract/token.ts'

const SUFFIX_CHARACTERS = 6

/** The name as given, and for each further token the name with a random suffix, all different. */
export function namesFor(name: string, count: number): readonly string[] {
  const names = new Set([name])
  while (names.size < count) names.add(withSuffix(name))
  return [...names]
}

/** NOTE: counted and cut by whole characters, so that a name stays one that may be sent back. */
function withSuffix(name: string): string {
  const suffix = Array.from(
    { length: SUFFIX_CHARACTERS },
    () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)],
  ).join('')
  const kept = [...name].slice(0, TOKEN_NAME_MAX - SUFFIX_CHARACTERS - 1).join('')
  return `${kept}-${suffix}`
}
