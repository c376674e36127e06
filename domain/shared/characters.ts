import { type ExactJson, isObject } from './json-text.ts'

/**
 * NUL and similar control characters, and halves of surrogate pairs. Tabs and line breaks are
 * allowed.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\p{Cs}/u
/**
 * Invisible characters and those that change the direction of reading. Joiners are allowed, because
 * scripts and emoji need them.
 */
const UNSEEN = /[\t\n\r\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/

/** Whether a text may be stored: it has no control characters and no halves of surrogate pairs. */
export const isText = (text: string): boolean => !NO_TEXT.test(text)

/** Whether a text may be a name: it is a text on one line, without invisible characters. */
export const isName = (text: string): boolean => isText(text) && !UNSEEN.test(text)

/** The member whose name or text has characters that are not allowed. */
export type BadCharacter = { readonly fault: 'bad-character'; readonly name?: string }

/**
 * Returns the first forbidden character in a JSON value, or null. It looks at the parsed value,
 * because a check of the raw text would miss escaped characters.
 */
export function badCharacter(value: ExactJson): BadCharacter | null {
  if (typeof value === 'string') return isText(value) ? null : { fault: 'bad-character' }
  if (Array.isArray(value)) {
    for (const element of value) {
      const bad = badCharacter(element)
      if (bad !== null) return bad
    }
  }
  if (!isObject(value)) return null
  for (const [name, member] of value) {
    const bad = isName(name) ? badCharacter(member) : ({ fault: 'bad-character' } as const)
    if (bad !== null) return { name: shown(name), ...bad }
  }
  return null
}

/**
 * The name as it may be shown in an error: bounded, with U+FFFD for each character that is not
 * allowed.
 */
const shown = (name: string): string =>
  [...name.toWellFormed()]
    .slice(0, 100)
    .map((character) => (isName(character) ? character : '\ufffd'))
    .join('')
