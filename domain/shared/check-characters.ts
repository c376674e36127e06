import { type ExactJson, isObject } from './lossless-json.ts'

/** Matches unpaired surrogates, and all control characters except tabs and line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\p{Cs}/u
/**
 * Matches invisible characters, and characters that change the text direction. Zero-width joiners
 * are not matched, because some writing systems and emoji need them.
 */
const INVISIBLE = /[\t\n\r\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/

/** Reports whether a text has no control characters and no unpaired surrogates. */
export const isText = (text: string): boolean => !NO_TEXT.test(text)

/** Reports whether a text is one line without invisible characters. */
export const isName = (text: string): boolean => isText(text) && !INVISIBLE.test(text)

/** The maximum length of the name of a redemption code, in characters. */
export const REDEMPTION_NAME_MAX = 20

/** `name` is the member whose name or text contains the forbidden characters. */
export type BadCharacter = { readonly error: 'bad-character'; readonly name?: string }

/**
 * Returns the error for the first forbidden character, or null. `value` is parsed JSON, because a
 * check of the JSON text would miss escaped characters.
 */
export function badCharacter(value: ExactJson): BadCharacter | null {
  if (typeof value === 'string') return isText(value) ? null : { error: 'bad-character' }
  if (Array.isArray(value)) {
    for (const element of value) {
      const bad = badCharacter(element)
      if (bad !== null) return bad
    }
  }
  if (!isObject(value)) return null
  for (const [name, member] of value) {
    const bad = isName(name) ? badCharacter(member) : ({ error: 'bad-character' } as const)
    if (bad !== null) return { name: displayName(name), ...bad }
  }
  return null
}

/** Shortens a name for an error message and replaces forbidden characters by U+FFFD. */
const displayName = (name: string): string =>
  [...name.toWellFormed()]
    .slice(0, 100)
    .map((character) => (isName(character) ? character : '\ufffd'))
    .join('')
