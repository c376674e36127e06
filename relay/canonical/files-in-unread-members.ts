import { isObject } from './json-values.ts'

/** Matches the names that APIs give to members with files, or to lists or objects with files. */
const FILE_NAME = new RegExp(
  [
    'image|img|picture|photo|video|audio',
    '(?:(?<![a-z])|first|last|start|end|tail|head|key)(?:frame|mask)s?(?![a-z])',
    '(?<![a-z])(?:file|media|asset|attachment|inline_?data|ref(?:erences?|s)?(?![a-z]))',
  ].join('|'),
  'i',
)
/** Matches the names of ids of files that a vendor would read, and not write. */
const FILE_ID_NAME = /(?<![a-z]|output_?)file_?ids?$/i
/** Matches the names of members from which no vendor reads a file, whatever they contain. */
const METADATA_NAME = /meta[_-]?data$/i
/**
 * Matches the names of what a vendor would write or call, and not read. A name may be a path. Names
 * of what was uploaded, such as Dify's `upload_file_id`, are those of an input.
 */
const OUTPUT_NAME = new RegExp(
  [
    'callback|hook|notif',
    '(?:^|\\.)(?:outputs?|results?|save)(?:[_-]|$)',
    '(?<![a-z])(?:output|result|save|upload|destination|target)[_-](?:ur[il]s?|path|bucket)',
  ].join('|'),
  'i',
)
/** Matches the names of input, also of settings for an output, which may contain pictures. */
const INPUT_NAME = /(?:^|\.)input(?![a-z])|(?:config|options?|settings|param(?:eter)?s|format)$/i

/** Matches the values of `type` in parts of a conversation that contain a file. */
const FILE_TYPE = /^(?:input_)?(?:image|video|audio|media|file|document)(?:_url|_file)?$/i
const MEDIA_TYPE_NAMES = ['mimeType', 'mime_type', 'media_type', 'mediaType', 'content_type']
const MEDIA_TYPE = /^(?:image|video|audio)\//i
/** Matches the names of the content, or of its address, beside a media type. */
const CONTENT_NAME =
  /^(?:data|content|blob|bytes|base64|b64_json|(?:file_?|gcs_?)?ur[il]|bytes_?base64_?encoded)$/i

/** Matches a data URL of a file, under any name. */
const FILE_TEXT = /^\s*data:(?:image|video|audio)\//i
/**
 * Matches the texts that may be a file under the name of a file: a URL, or a file in base64, which
 * a text as short as a hash in hexadecimal digits is not.
 */
const POSSIBLE_FILE_TEXT =
  /^\s*(?:data:[^\s,]{0,100},|[a-z][a-z\d+.-]{1,16}:\/\/|(?![a-f\d]{1,128}\s*$)[a-z\d+/]{64})/i
/** Matches the texts that are a file even if a vendor would write to an address of this name. */
const DATA_URL = /^\s*data:[^\s,]{0,100},/i
const JSON_TEXT = /^\s*[[{]/
/** The maximum length of a text that is parsed. A longer JSON text counts as a file. */
const PARSED_TEXT_MAX = 256 * 1024
/** The maximum numbers of values that are searched, and of texts that are parsed, for a request. */
const [VALUES_MAX, PARSED_TEXTS_MAX] = [100_000, 16]

const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...['user', 'labels', 'tags', 'extra_headers', 'extra_query', 'trace'],
  ...['safety_identifier', 'prompt_cache_key'],
])
/**
 * Reports whether no vendor reads a file from the member `name` of a request itself, whatever the
 * member contains.
 */
export const isBookkeeping = (name: string): boolean => BOOKKEEPING.has(name)

/** What may still be searched of a request. The caller determines how much there is to search. */
export type SearchBudget = { values: number; parsedTexts: number }

export const searchBudget = (): SearchBudget => ({
  values: VALUES_MAX,
  parsedTexts: PARSED_TEXTS_MAX,
})

/** What the names that lead to a value say about it. They are as long as the caller likes. */
type Naming = {
  readonly isNamedLikeFile: boolean
  /** True for the id or the content of a file, which may be any text. */
  readonly isFileAsAnyText: boolean
  readonly isOutput: boolean
}

type Found = Naming & { readonly value: unknown }

/**
 * Reports whether the member `name` of a request, with the value `root`, contains a picture, a
 * video or a sound. Metadata contains none, and addresses to which a vendor would write are none. A
 * member with more values than `budget` allows counts as a file, and texts beyond its number are
 * not parsed. The value is searched without recursion, because the caller determines how deep it
 * is.
 */
export function hasFile(name: string, root: unknown, budget: SearchBudget): boolean {
  if (METADATA_NAME.test(name)) return false
  if (isJsonText(root) && root.length > PARSED_TEXT_MAX) return true
  const value = parsedText(root, budget)
  const open: Found[] = [{ ...namingOf(name, NEUTRAL), value }]
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    budget.values -= 1
    if (budget.values < 0 || isFile(found)) return true
    // Values beyond the budget are not even listed, because a list of all would fill the memory.
    for (const inner of valuesIn(found)) if (open.push(inner) > budget.values) return true
  }
  return false
}

/** Yields the elements of a list, which have the name of the list, and the members of an object. */
function* valuesIn(found: Found): Generator<Found> {
  const { value } = found
  if (Array.isArray(value)) {
    for (const element of value) yield { ...found, value: element }
  } else if (isObject(value)) {
    const isNamedLikeFile = found.isNamedLikeFile || isTextMatching(FILE_TYPE, value.type)
    const hasMediaType = MEDIA_TYPE_NAMES.some((name) => isTextMatching(MEDIA_TYPE, value[name]))
    for (const [name, member] of Object.entries(value)) {
      if (METADATA_NAME.test(name)) continue
      const naming = namingOf(name, { ...found, isNamedLikeFile })
      const isFileAsAnyText = naming.isFileAsAnyText || (hasMediaType && CONTENT_NAME.test(name))
      yield { ...naming, isFileAsAnyText, value: member }
    }
  }
}

const isTextMatching = (pattern: RegExp, value: unknown): boolean =>
  typeof value === 'string' && pattern.test(value)

/** The maximum length of a name that is read. Of a longer one, only its end is read. */
const NAME_LENGTH_MAX = 1_024

/** Separates the words of a name in camel case. */
const wordsOf = (name: string): string =>
  name.slice(-NAME_LENGTH_MAX).replaceAll(/([a-z])([A-Z])/g, '$1_$2')

const NEUTRAL: Naming = { isNamedLikeFile: false, isFileAsAnyText: false, isOutput: false }

/**
 * Reads the name of a member of what `outer` names. A name is read once, and not again for each of
 * many elements of a list with this name.
 */
function namingOf(name: string, outer: Naming): Naming {
  const words = wordsOf(name)
  return {
    isNamedLikeFile: outer.isNamedLikeFile || FILE_NAME.test(words),
    isFileAsAnyText: FILE_ID_NAME.test(words),
    isOutput: outer.isOutput || (OUTPUT_NAME.test(words) && !INPUT_NAME.test(words)),
  }
}

function isFile({ value, isNamedLikeFile, isFileAsAnyText, isOutput }: Found): boolean {
  if (typeof value !== 'string') return false
  if (FILE_TEXT.test(value)) return true
  if (isOutput) return isNamedLikeFile && DATA_URL.test(value)
  return (isNamedLikeFile && POSSIBLE_FILE_TEXT.test(value)) || (isFileAsAnyText && value !== '')
}

const isJsonText = (value: unknown): value is string =>
  typeof value === 'string' && JSON_TEXT.test(value)

/**
 * Parses a text that contains JSON, unless the text is too long. Fields of forms contain objects
 * and lists as such texts, but texts within them are not parsed, because each text that can't be
 * parsed takes a long time.
 */
export function parsedText(value: unknown, budget: SearchBudget): unknown {
  if (!isJsonText(value) || value.length > PARSED_TEXT_MAX || budget.parsedTexts === 0) return value
  budget.parsedTexts -= 1
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
