import type { TFunction } from 'i18next'
import {
  type AnswerOf,
  type Field,
  type Fields,
  type FieldType,
  mapFields,
  namesIn,
} from '#read-api/contract/resource-fields.ts'

type Drafts = Record<Exclude<FieldType, 'names' | 'flag' | 'numericFlag'>, string> & {
  names: readonly string[]
  flag: boolean
  numericFlag: boolean
}

/** The values in the form of a resource: numbers are texts as entered, names are a list. */
export type DraftOf<F extends Fields> = { [Name in keyof F]: Drafts[F[Name]['type']] }

export const newDraft = <F extends Fields>(fields: F): DraftOf<F> =>
  mapFields(fields, (_name, { initial }) =>
    typeof initial === 'boolean' || Array.isArray(initial) ? initial : String(initial ?? ''),
  ) as DraftOf<F>

export const draftOf = <F extends Fields>(fields: F, answer: AnswerOf<F>): DraftOf<F> => {
  const values = new Map<string, unknown>(Object.entries(answer))
  return mapFields(fields, (_name, { type, wire }) => {
    const value = values.get(wire)
    if (type === 'names') return namesIn(String(value))
    if (type === 'flag' || type === 'numericFlag') return Boolean(value)
    return String(value)
  }) as DraftOf<F>
}

/** Builds the request body. `fieldFaults` must have found no error in the form's values. */
export const bodyOf = <F extends Fields>(fields: F, draft: DraftOf<F>): AnswerOf<F> => {
  const entries = Object.entries(fields).map(([name, field]) => [
    field.wire,
    sentValue(field, draft[name]),
  ])
  return Object.fromEntries(entries) as AnswerOf<F>
}

function sentValue(field: Field, value: unknown): unknown {
  switch (field.type) {
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

export type FieldFault =
  | { readonly key: 'wholeNumber'; readonly min: number; readonly max: number }
  | { readonly key: 'tooLong'; readonly max: number }
export type FieldFaults<F extends Fields> = { [Name in keyof F]?: FieldFault }

export function fieldFaults<F extends Fields>(fields: F, draft: DraftOf<F>): FieldFaults<F> {
  const faults = Object.entries(fields).map(([name, field]) => {
    if (field.type === 'integer') return [name, integerFault(field, String(draft[name]))] as const
    if (!('maxLength' in field) || field.type === 'names') return [name, null] as const
    return [name, lengthFault(field, String(draft[name]))] as const
  })
  return Object.fromEntries(faults.filter(([, fault]) => fault !== null)) as FieldFaults<F>
}

export function integerFault(
  { min, max }: { readonly min: number; readonly max: number },
  text: string,
): FieldFault | null {
  const isIn = INTEGER.test(text.trim()) && Number(text) >= min && Number(text) <= max
  return isIn ? null : { key: 'wholeNumber', min, max }
}

/** Checks the length of a text in characters, as the server counts them. */
export function lengthFault(
  { maxLength }: { readonly maxLength: number },
  text: string,
): FieldFault | null {
  return [...text.trim()].length <= maxLength ? null : { key: 'tooLong', max: maxLength }
}

export const fieldFaultText = (t: TFunction, { key, ...bounds }: FieldFault): string =>
  t(`words.fault.${key}`, bounds)

/** Returns the fields that differ from `before`, because unchanged fields must not be sent. */
export function changedFields<Body extends object>(before: Body, after: Body): Partial<Body> {
  const old = new Map<string, unknown>(Object.entries(before))
  const entries = Object.entries(after).filter(([name, value]) => old.get(name) !== value)
  return Object.fromEntries(entries) as Partial<Body>
}
