import { isObject } from './json-values.ts'

/** Matches the names that APIs give to members with files, or to lists or objects with files. */
const FILE_NAME = new RegExp(
  [
    'image|img|picture|photo|frame|video|audio|mask',
    '(?<![a-z])(?:file|media|asset|attachment|ref(?:erences?|s)?(?![a-z]))',
  ].join('|'),
  'i',
)
const FILE_ID_NAME = /(?<![a-z])file_?ids?$/i
/** Matches the names of addresses that a vendor would call, and not read. */
const CALLBACK_NAME = /callback|hook|notif/i

/** Matches a data URL of a file, under any name. */
const FILE_TEXT = /^\s*data:(?:image|video|audio)\//i
/** Matches the texts that may be a file under the name of a file: a URL, or a file in base64. */
const POSSIBLE_FILE_TEXT = /^\s*(?:data:|[a-z][a-z\d+.-]{1,16}:\/\/|[a-z\d+/]{64})/i
const JSON_TEXT = /^\s*[[{]/

type Found = { readonly isNamedLikeFile: boolean; readonly name: string; readonly value: unknown }

/**
 * Reports whether the member `path` of a request, with the value `root`, contains a picture, a
 * video or a sound. The value is searched without recursion, because the caller determines how deep
 * it is.
 */
export function hasFile(path: string, root: unknown): boolean {
  const open: Found[] = [{ isNamedLikeFile: isNameOfFile(path, false), name: path, value: root }]
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    const { isNamedLikeFile, name } = found
    const value = parsed(found.value)
    if (isFile(name, value, isNamedLikeFile)) return true
    if (Array.isArray(value)) {
      for (const element of value) open.push({ isNamedLikeFile, name, value: element })
    } else if (isObject(value)) {
      for (const [inner, member] of Object.entries(value)) {
        const isNamed = isNameOfFile(inner, isNamedLikeFile)
        open.push({ isNamedLikeFile: isNamed, name: inner, value: member })
      }
    }
  }
  return false
}

/** Separates the words of a name in camel case. */
const wordsOf = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1_$2')

const isNameOfFile = (name: string, isInFile: boolean): boolean =>
  !CALLBACK_NAME.test(name) && (isInFile || FILE_NAME.test(wordsOf(name)))

const isFile = (name: string, value: unknown, isNamedLikeFile: boolean): boolean =>
  typeof value === 'string' &&
  (FILE_TEXT.test(value) ||
    (isNamedLikeFile && POSSIBLE_FILE_TEXT.test(value)) ||
    (FILE_ID_NAME.test(wordsOf(name)) && value !== ''))

/** Parses a text that contains JSON. Fields of forms contain objects and lists as such texts. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !JSON_TEXT.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
