import { isObject } from './json-values.ts'

/** Matches the names that APIs give to members with files, or to lists or objects with files. */
const FILE_NAME = new RegExp(
  [
    'image|img|picture|photo|video|audio',
    '(?:(?<![a-z])|first|last|start|end|tail|head|key)(?:frame|mask)s?(?![a-z])',
    '(?<![a-z])(?:file|media|asset|attachment|ref(?:erences?|s)?(?![a-z]))',
  ].join('|'),
  'i',
)
/** Matches the names of ids of files that a vendor would read, and not write. */
const FILE_ID_NAME = /(?<![a-z]|output_?)file_?ids?$/i
/** Matches the names of addresses that a vendor would call, and not read. */
const CALLBACK_NAME = /callback|hook|notif/i

/** Matches a data URL of a file, under any name. */
const FILE_TEXT = /^\s*data:(?:image|video|audio)\//i
/**
 * Matches the texts that may be a file under the name of a file: a URL, or a file in base64, which
 * a text as short as a hash in hexadecimal digits is not.
 */
const POSSIBLE_FILE_TEXT =
  /^\s*(?:data:|[a-z][a-z\d+.-]{1,16}:\/\/|(?![a-f\d]{1,128}\s*$)[a-z\d+/]{64})/i
const JSON_TEXT = /^\s*[[{]/
/** The maximum length of a text that is parsed. A longer JSON text counts as a file. */
const PARSED_TEXT_MAX = 256 * 1024
/** The maximum numbers of values that are searched, and of texts that are parsed, for a request. */
const [VALUES_MAX, PARSED_TEXTS_MAX] = [100_000, 16]

/** What may still be searched of a request. The caller determines how much there is to search. */
export type SearchBudget = { values: number; parsedTexts: number }

export const searchBudget = (): SearchBudget => ({
  values: VALUES_MAX,
  parsedTexts: PARSED_TEXTS_MAX,
})

/** What the names that lead to a value say about it. They are as long as the caller likes. */
type Naming = { readonly isNamedLikeFile: boolean; readonly isNamedLikeFileId: boolean }

type Found = Naming & { readonly value: unknown }

/**
 * Reports whether the member `name` of a request, with the value `root`, contains a picture, a
 * video or a sound. A member with more values than `budget` allows counts as a file, and texts
 * beyond its number are not parsed. The value is searched without recursion, because the caller
 * determines how deep it is.
 */
export function hasFile(name: string, root: unknown, budget: SearchBudget): boolean {
  if (isJsonText(root) && root.length > PARSED_TEXT_MAX) return true
  const value = parsed(root, budget)
  const open: Found[] = [{ ...namingOf(name, false), value }]
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    budget.values -= 1
    if (budget.values < 0 || isFile(found)) return true
    // Values beyond the budget are not even listed, because a list of all would fill the memory.
    for (const inner of valuesIn(found)) if (open.push(inner) > budget.values) return true
  }
  return false
}

/** Yields the elements of a list, which have the name of the list, and the members of an object. */
function* valuesIn({ isNamedLikeFile, isNamedLikeFileId, value }: Found): Generator<Found> {
  if (Array.isArray(value)) {
    for (const element of value) yield { isNamedLikeFile, isNamedLikeFileId, value: element }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield { ...namingOf(name, isNamedLikeFile), value: member }
    }
  }
}

/** Separates the words of a name in camel case. */
const wordsOf = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1_$2')

/** Reads a name once, and not again for each of many elements of a list with this name. */
function namingOf(name: string, isInFile: boolean): Naming {
  const words = wordsOf(name)
  return {
    isNamedLikeFile: !CALLBACK_NAME.test(name) && (isInFile || FILE_NAME.test(words)),
    isNamedLikeFileId: FILE_ID_NAME.test(words),
  }
}

const isFile = ({ value, isNamedLikeFile, isNamedLikeFileId }: Found): boolean =>
  typeof value === 'string' &&
  (FILE_TEXT.test(value) ||
    (isNamedLikeFile && POSSIBLE_FILE_TEXT.test(value)) ||
    (isNamedLikeFileId && value !== ''))

const isJsonText = (value: unknown): value is string =>
  typeof value === 'string' && JSON_TEXT.test(value)

/**
 * Parses a text that contains JSON. Fields of forms contain objects and lists as such texts, but
 * texts within them are not parsed, because each text that can't be parsed takes a long time.
 */
function parsed(value: unknown, budget: SearchBudget): unknown {
  if (!isJsonText(value) || budget.parsedTexts === 0) return value
  budget.parsedTexts -= 1
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
