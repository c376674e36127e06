import { type ExactJson, isObject } from './json-text.ts'

/** NUL and its like, and halves of surrogate pairs. Tabs and line breaks are text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\p{Cs}/u
/** What can't be seen, or turns reading around. Joiners are let be: scripts and emoji need them. */
const UNSEEN = /[\t\n\r\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/

/** Whether a text may be kept: no control characters, no half characters. */
export const isText = (text: string): boolean => !NO_TEXT.test(text)

/** Whether a text may be a name: moreover all in one line, and nothing in it that can't be seen. */
export const isName = (text: string): boolean => isText(text) && !UNSEEN.test(text)

/** The entry whose name or text has characters that are not allowed; null where none has. */
export type BadCharacter = { readonly fault: 'bad-character'; readonly name?: string }

/** Looks into all of a JSON value: what a text escapes, no look at the text itself would find. */
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

/** As it may be told to whoever sent it. */
const shown = (name: string): string =>
  [...name.toWellFormed()]
    .slice(0, 100)
    .map((character) => (isName(character) ? character : '\ufffd'))
    .join('')
