import { KEYS_MAX } from '#domain/channel/keys.ts'
import { isText } from '#domain/shared/characters.ts'
import type { Words } from '#infra/http/language.ts'
import { refused } from '../refusals.ts'

/** `repeated`: how many of those given were there before, in the text or in the channel. */
export type GivenKeys = { readonly keys: readonly string[]; readonly repeated: number }

/** The keys of a text: one a line, none twice; a key that is JSON may go over several lines. */
export function keysIn(text: string): GivenKeys {
  if (!isText(text)) throw refused('InvalidField', { field: 'key', fault: 'bad-character' })
  if (/^\s*\{/.test(text)) return { keys: [text.trim()], repeated: 0 }
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const given = lines.filter((line) => line !== '')
  const keys = [...new Set(given)]
  if (keys.length > KEYS_MAX) throw refused('TooManyKeys', { limit: KEYS_MAX })
  return { keys, repeated: given.length - keys.length }
}

/** Of those to be added, the ones that the channel does not have; refused where it has them all. */
export function newAmong({ keys, repeated }: GivenKeys, known: ReadonlySet<string>): GivenKeys {
  const added = keys.filter((key) => !known.has(key))
  if (added.length === 0 && keys.length > 0) throw refused('KeyRepeated')
  return { keys: added, repeated: repeated + keys.length - added.length }
}

/** What an answer says of keys that were given twice; nothing where there were none. */
export const repeatedWords = (count: number): Words =>
  count === 0
    ? { zh: '', en: '' }
    : {
        zh: `已忽略 ${count} 个重复的密钥。`,
        en:
          count === 1 ? 'One repeated key was left out.' : `${count} repeated keys were left out.`,
      }
