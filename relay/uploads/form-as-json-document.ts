import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { FormRules } from './form-field-types.ts'
import type { SpooledFile } from './spooled-file.ts'

/** A field of a form. The field has a text, or the id of a file. */
export type FormField =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly fileId: string }

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const FLAG = /^(?:true|false)$/i

/**
 * Converts a form to a JSON document, so that it can be handled like a JSON request. The document
 * has one member for each field. Fields of the same name that ends in `[]` become one list. A file
 * becomes an object with its id, name, type, length and hash, so that two forms with different
 * files have different documents. Returns an error if a field that is not a list occurs twice, or
 * if `errorInName` refuses a field.
 */
export async function documentOf(
  fields: readonly FormField[],
  files: ReadonlyMap<string, SpooledFile>,
  rules: FormRules,
): Promise<Buffer | RelayError> {
  const members = new Map<string, string[]>()
  for (const field of fields) {
    const { name } = field
    const error = errorInName(field, rules) ?? (isSecond(members, name) ? twice(name) : null)
    if (error !== null) return error
    const text =
      'fileId' in field ? await fileText(field.fileId, files, rules) : textOf(field, rules)
    members.set(name, [...(members.get(name) ?? []), text])
  }
  const texts = [...members].map(
    ([name, values]) => `${JSON.stringify(name)}:${isList(name) ? `[${values}]` : values[0]}`,
  )
  return Buffer.from(`{${texts.join()}}`)
}

const isList = (name: string): boolean => name.endsWith('[]')

const isSecond = (members: ReadonlyMap<string, unknown>, name: string): boolean =>
  members.has(name) && !isList(name)

const twice = (param: string): RelayError => relayError('duplicate_key', { param })

/**
 * Returns an error if a field's name is not allowed, or if a file was sent for a text field or a
 * text for a file field. Returns null otherwise.
 */
function errorInName(field: FormField, { files, numbers, flags, texts }: FormRules) {
  const { name } = field
  if ('fileId' in field !== files.includes(name)) {
    return relayError('invalid_parameter', { param: name })
  }
  const at = name.indexOf('[')
  if (at < 0 || 'fileId' in field) return null
  // Some servers treat `n[]` and `n[0]` as the field `n`. These names are refused if `n` may occur
  // only once.
  const base = foldedName(name.slice(0, at))
  const single = [...numbers, ...flags, ...texts, ...files].map((one) => one.replace(/\[\]$/, ''))
  const isSingle = single.some((one) => foldedName(one) === base)
  return isSingle ? relayError('invalid_parameter', { param: name }) : null
}

function textOf(
  { name, text }: { readonly name: string; readonly text: string },
  { numbers, flags }: FormRules,
): string {
  if (numbers.includes(name) && NUMBER.test(text)) return text
  if (flags.includes(name) && FLAG.test(text)) return text.toLowerCase()
  return JSON.stringify(text.toWellFormed())
}

async function fileText(
  id: string,
  files: ReadonlyMap<string, SpooledFile>,
  { measure }: FormRules,
): Promise<string> {
  const file = files.get(id)
  if (file === undefined) throw new Error('a form refers to a file that was not read')
  const { name, type, bytes, sha256 } = file
  return JSON.stringify({ file: id, name, type, bytes, sha256, ...(await measure?.(file)) })
}
