import { KEYS_MAX } from '#domain/channels/validate-keys-and-set-aside-failed-keys.ts'
import { isText } from '#domain/shared/check-characters.ts'
import { isObject, parseJsonText } from '#domain/shared/lossless-json.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { channelError } from './channel-errors.ts'

/**
 * The keys in a request. `repeated` is the number of keys that were left out, because the text
 * repeats them or the channel already has them.
 */
type ParsedKeys = { readonly keys: readonly string[]; readonly repeated: number }

/**
 * Parses the keys in a text. Each line is a key, and duplicates are removed. A JSON object is one
 * key, even on several lines. If the text is a JSON list, each object in the list is a key.
 */
export function parseKeys(text: string): ParsedKeys {
  if (!isText(text)) throw channelError('InvalidField', { field: 'key', error: 'bad-character' })
  const entered = keysInJson(text) ?? linesOf(text)
  const keys = [...new Set(entered)]
  if (keys.length > KEYS_MAX) throw channelError('TooManyKeys', { limit: KEYS_MAX })
  return { keys, repeated: entered.length - keys.length }
}

const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/**
 * Parses keys that are JSON objects (key files). If a text starts with `{` and each of its lines is
 * a JSON object, each line is a key. Any other text that starts with `{` is one key. In a JSON list
 * of objects, each object is a key. Returns null for all other text.
 */
function keysInJson(text: string): string[] | null {
  if (/^\s*\{/.test(text)) {
    const lines = linesOf(text)
    return lines.every(isJsonObject) ? lines : [text.trim()]
  }
  if (!/^\s*\[/.test(text)) return null
  const parsed = parseJsonText(text)
  const list = 'error' in parsed || !Array.isArray(parsed.value) ? [] : parsed.value
  const isList = list.length > 0 && list.every(isObject)
  return isList ? (JSON.parse(text) as object[]).map((file) => JSON.stringify(file)) : null
}

function isJsonObject(text: string): boolean {
  const parsed = parseJsonText(text)
  return !('error' in parsed) && isObject(parsed.value)
}

/**
 * Returns the entered keys that the channel does not have yet. Throws if the channel already has
 * all of them.
 */
export function keysToAdd(
  { keys, repeated }: ParsedKeys,
  existing: ReadonlySet<string>,
): ParsedKeys {
  const added = keys.filter((key) => !existing.has(key))
  if (added.length === 0 && keys.length > 0) throw channelError('KeyRepeated')
  return { keys: added, repeated: repeated + keys.length - added.length }
}

export const repeatedKeysMessage = (count: number): TranslatedText =>
  count === 0
    ? { zh: '', en: '' }
    : {
        zh: `已忽略 ${count} 个重复的密钥。`,
        en: count === 1 ? 'One repeated key was ignored.' : `${count} repeated keys were ignored.`,
      }
