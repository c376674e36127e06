import type { TFunction } from 'i18next'
import {
  absent,
  mapFields,
  namesIn,
  type ResponseOf,
  type WritableFields,
} from '#read-api/contract/resource-field-definition.ts'
import { dateFieldText, secondsOfDateField } from './date-field-text.ts'

/**
 * The definition of a field in a form. Fields for decimal numbers are excluded, because no form has
 * such a field.
 */
type Field = Exclude<WritableFields[string], { type: 'nullableNumber' }>
type FormFields = Readonly<Record<string, Field>>
type FieldType = Field['type']

type Drafts = Record<Exclude<FieldType, 'names' | 'flag' | 'numericFlag'>, string> & {
  names: readonly string[]
  flag: boolean
  numericFlag: boolean
}

/**
 * The values of a form. Numbers and times are texts as the user typed them. A list of names is an
 * array.
 */
export type DraftOf<F extends FormFields> = {
  [Name in keyof F]: F[Name] extends { values: readonly (infer Value)[] }
    ? Value
    : Drafts[F[Name]['type']]
}

export const newDraft = <F extends FormFields>(fields: F): DraftOf<F> =>
  mapFields(fields, (_name, { initial }) =>
    typeof initial === 'boolean' || Array.isArray(initial) ? initial : String(initial ?? ''),
  ) as DraftOf<F>

export const draftOf = <F extends FormFields>(fields: F, answer: ResponseOf<F>): DraftOf<F> => {
  const values = new Map<string, unknown>(Object.entries(answer))
  return mapFields(fields, (_name, field) => {
    const { type } = field
    const value = values.get(field.wire)
    if (type === 'time') return dateFieldText(Number(value))
    if (type === 'optionalInteger') return value === absent(field) ? '' : String(value)
    if (type === 'names') return namesIn(String(value))
    if (type === 'flag' || type === 'numericFlag') return Boolean(value)
    return String(value)
  }) as DraftOf<F>
}

/**
 * Converts the values of a form to the body of a request. The caller must first check these values
 * with `validateFields`.
 */
export const bodyOf = <F extends FormFields>(fields: F, draft: DraftOf<F>): ResponseOf<F> => {
  const entries = Object.entries(fields).map(([name, field]) => [
    field.wire,
    sentValue(field, draft[name]),
  ])
  return Object.fromEntries(entries) as ResponseOf<F>
}

function sentValue(field: Field, value: unknown): unknown {
  switch (field.type) {
    case 'time':
      return secondsOfDateField(String(value), 0) ?? 0
    case 'optionalInteger':
      return INTEGER.test(String(value).trim()) ? Number(value) : absent(field)
    case 'integer':
      return INTEGER.test(String(value).trim()) ? Number(value) : field.initial
    case 'names':
      return (value as readonly string[]).join(',')
    case 'numericFlag':
      return Number(value)
    case 'flag':
      return value
    default:
      return String(value).trim()
  }
}

const INTEGER = /^-?\d{1,15}$/

export type ValidationError =
  | { readonly key: 'wholeNumber'; readonly min: number; readonly max: number }
  | { readonly key: 'tooLong'; readonly max: number }
export type ValidationErrors<F extends FormFields> = { [Name in keyof F]?: ValidationError }

export function validateFields<F extends FormFields>(
  fields: F,
  draft: DraftOf<F>,
): ValidationErrors<F> {
  const errorKeys = Object.entries(fields).map(([name, field]) => {
    const isMissing = field.type === 'optionalInteger' && String(draft[name]).trim() === ''
    if (!isMissing && 'max' in field)
      return [name, validateInteger(field, String(draft[name]))] as const
    if (!('maxLength' in field) || field.type === 'names') return [name, null] as const
    return [name, validateLength(field, String(draft[name]))] as const
  })
  return Object.fromEntries(
    errorKeys.filter(([, errorKey]) => errorKey !== null),
  ) as ValidationErrors<F>
}

export function validateInteger(
  { min, max }: { readonly min: number; readonly max: number },
  text: string,
): ValidationError | null {
  const isInBounds = INTEGER.test(text.trim()) && Number(text) >= min && Number(text) <= max
  return isInBounds ? null : { key: 'wholeNumber', min, max }
}

/** Checks the length of a text in Unicode code points. The server counts code points, too. */
function validateLength(
  { maxLength }: { readonly maxLength: number },
  text: string,
): ValidationError | null {
  return [...text.trim()].length <= maxLength ? null : { key: 'tooLong', max: maxLength }
}

export const validationErrorText = (t: TFunction, error: ValidationError): string =>
  error.key === 'tooLong' ? t('shared.error.tooLong', error) : t('shared.error.wholeNumber', error)

export const fieldErrors = <F extends FormFields>(
  t: TFunction,
  fields: F,
  draft: DraftOf<F>,
): Partial<Record<keyof F, string>> => {
  const errorKeys = validateFields(fields, draft) as Readonly<Record<string, ValidationError>>
  const texts = Object.entries(errorKeys).map(([name, errorKey]) => [
    name,
    validationErrorText(t, errorKey),
  ])
  return Object.fromEntries(texts) as Partial<Record<keyof F, string>>
}

/**
 * Returns the properties of `after` that differ from `before`. Requests must not contain fields
 * that the user has not changed.
 */
export function changedFields<Body extends object>(before: Body, after: Body): Partial<Body> {
  const old = new Map<string, unknown>(Object.entries(before))
  const entries = Object.entries(after).filter(([name, value]) => old.get(name) !== value)
  return Object.fromEntries(entries) as Partial<Body>
}
