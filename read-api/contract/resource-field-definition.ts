import type { Sealed } from '#domain/shared/event.ts'

/** The last second of the year 9999, in Unix seconds. */
export const TIME_MAX = 253_402_300_799

/**
 * The definition of one field of a resource, such as a token or a user. The schemas of requests and
 * responses, the database column, the conversion of rows to responses, and the form in the console
 * are derived from this definition. `wire` is the name of the field in the API.
 */
export type Field = WritableField | ReadOnlyField
export type FieldType = Field['type']
export type Fields = Readonly<Record<string, Field>>
export type WritableFields = Readonly<Record<string, WritableField>>

/**
 * A field that requests can change.
 * - `initial` is the value of the field in a new resource, and in a resource that is older than the
 *   field.
 * - `isRequired`: a request that creates a resource must contain the field.
 * - `isComputed`: the database has no column with the name of the field. The value is stored in
 *   another form, and is computed for each response.
 */
type WritableField = {
  readonly wire: string
  readonly access?: never
  readonly isRequired?: true
  readonly isComputed?: true
} & (
  | {
      readonly type: 'integer'
      readonly min: number
      readonly max: number
      readonly initial: number
    }
  /**
   * An integer or null. Responses contain the number `absent` instead of null. Requests may contain
   * `absent` or null.
   */
  | {
      readonly type: 'optionalInteger'
      readonly min: number
      readonly max: number
      readonly absent: number
      readonly initial: number | null
    }
  /** A number that need not be an integer, or null. */
  | {
      readonly type: 'nullableNumber'
      readonly min: number
      readonly max: number
      readonly initial: number | null
    }
  /**
   * A time in Unix seconds, or null. Responses contain 0 instead of null. Requests may contain 0 or
   * null.
   */
  | { readonly type: 'time'; readonly initial: number | null }
  | { readonly type: 'text'; readonly maxLength: number; readonly initial: string }
  /** One line of text. Leading and trailing spaces are removed. */
  | { readonly type: 'name'; readonly maxLength: number; readonly initial: string }
  /**
   * Text. Leading and trailing spaces are removed. A request may contain null instead of an empty
   * text.
   */
  | { readonly type: 'trimmedText'; readonly maxLength: number; readonly initial: string }
  /**
   * A personal text, which is stored encrypted with its owner's key. A request may contain null
   * instead of an empty text.
   */
  | { readonly type: 'encryptedText'; readonly maxLength: number; readonly initial: null }
  /**
   * A list of distinct names. Requests and responses contain the list as one comma-separated text.
   */
  | { readonly type: 'names'; readonly maxLength: number; readonly initial: readonly string[] }
  | { readonly type: 'flag'; readonly initial: boolean }
  /** A boolean, which is 1 or 0 in requests and responses. */
  | { readonly type: 'numericFlag'; readonly initial: boolean }
  | { readonly type: 'choice'; readonly values: readonly string[]; readonly initial: string }
)

/**
 * A field that requests can't change. `isComputed`: the field has no database column, and the value
 * is computed for each response. `isOptional`: only some responses contain the field.
 */
type ReadOnlyField = {
  readonly wire: string
  readonly access: 'read'
  readonly isComputed?: true
  readonly isOptional?: true
} & (
  | {
      readonly type:
        | 'integer'
        | 'nullableInteger'
        | 'number'
        | 'text'
        | 'nullableText'
        | 'encryptedText'
        | 'flag'
    }
  /** An integer or null. Responses contain the number `absent` instead of null. */
  | { readonly type: 'optionalInteger'; readonly absent: number }
  /** A time in Unix seconds, or null. Responses contain the time as text in ISO 8601, or null. */
  | { readonly type: 'isoTime' }
  /** A time in Unix milliseconds, or null. Responses contain Unix seconds, or 0 for null. */
  | { readonly type: 'timeMs' }
  /** An amount in hundredths of a currency. Responses contain text such as `7.30`. */
  | { readonly type: 'money' }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  /** A number that represents a named value, such as a status. The number is one of `values`. */
  | { readonly type: 'code'; readonly values: readonly number[] }
)

type Plain = {
  integer: number
  optionalInteger: number | null
  number: number
  nullableNumber: number | null
  time: number | null
  isoTime: number | null
  timeMs: number | null
  text: string
  name: string
  trimmedText: string
  encryptedText: string
  names: readonly string[]
  flag: boolean
  numericFlag: boolean
  code: number
  nullableInteger: number | null
  nullableText: string | null
  money: bigint
  choice: string
}
type Stored = Omit<Plain, 'encryptedText'> & { encryptedText: Sealed | null }
type ResponseValues = Omit<
  Plain,
  'optionalInteger' | 'time' | 'isoTime' | 'timeMs' | 'names' | 'numericFlag' | 'money'
> & {
  optionalInteger: number
  time: number
  isoTime: string | null
  timeMs: number
  names: string
  numericFlag: number
  money: string
}

/**
 * The stored values of the fields, by the names that the code uses. Personal texts are encrypted.
 */
export type ValuesOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends { values: readonly (infer Value)[] }
    ? Value
    : Stored[F[Name]['type']]
}

/** The values of the fields, by the names that the code uses. Personal texts are decrypted. */
export type PlainValuesOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends Optional ? never : Name]: Plain[F[Name]['type']]
}

/** The values of the fields as a response contains them, by their names in the API. */
export type ResponseOf<F extends Fields> = {
  [Name in keyof F as F[Name] extends Optional ? never : F[Name]['wire']]: F[Name] extends {
    type: 'choice'
    values: readonly (infer Value)[]
  }
    ? Value
    : ResponseValues[F[Name]['type']]
}
type Optional = { readonly isOptional: true }

export type Writable<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends WritableField ? Name : never]: Extract<
    F[Name],
    WritableField
  >
}

export const writableFields = <F extends Fields>(fields: F): Writable<F> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, { access }]) => access === undefined),
  ) as Writable<F>

export const initialValues = <F extends WritableFields>(fields: F): ValuesOf<F> =>
  mapFields(fields, (_name, { initial }) => initial) as ValuesOf<F>

/** Returns the values of the given fields. Other properties of the row are left out. */
export const valuesIn = <F extends Fields>(fields: F, row: ValuesOf<F>): ValuesOf<F> =>
  mapFields(fields, (name) => row[name]) as ValuesOf<F>

/**
 * Returns the values of the fields that a request body contains, by the names that the code uses.
 */
export function sentValues<F extends WritableFields>(
  fields: F,
  body: object,
): Partial<PlainValuesOf<F>> {
  const sent = new Map<string, unknown>(Object.entries(body))
  const present = Object.entries(fields).filter(([, { wire }]) => sent.get(wire) !== undefined)
  const values = mapFields(Object.fromEntries(present), (_name, field) =>
    plainValue(field, sent.get(field.wire) as string | number | boolean | null),
  )
  return values as Partial<PlainValuesOf<F>>
}

function plainValue(field: WritableField, sent: string | number | boolean | null): unknown {
  const { type } = field
  if (type === 'optionalInteger' || type === 'time') return sent === absent(field) ? null : sent
  if (type === 'trimmedText' || type === 'name') return String(sent ?? '').trim()
  if (type === 'encryptedText') return sent ?? ''
  if (type === 'names') return namesIn(String(sent))
  return type === 'numericFlag' ? sent === 1 : sent
}

/**
 * Converts the values of the fields to the form of a response. Fields with `isOptional` are left
 * out.
 */
export function responseOf<F extends Fields>(fields: F, values: PlainValuesOf<F>): ResponseOf<F> {
  const plain: Readonly<Record<string, unknown>> = values
  const entries = Object.entries(fields)
    .filter(([, field]) => !('isOptional' in field))
    .map(([name, field]) => [field.wire, responseValue(field, plain[name])])
  return Object.fromEntries(entries) as ResponseOf<F>
}

function responseValue(field: Field, value: unknown): unknown {
  const { type } = field
  if (type === 'optionalInteger' || type === 'time') return value ?? absent(field)
  if (type === 'names') return (value as readonly string[]).join(',')
  if (type === 'isoTime')
    return value === null ? null : new Date(Number(value) * 1_000).toISOString()
  if (type === 'timeMs') return Math.floor(Number(value) / 1_000)
  if (type === 'money') return moneyText(value as bigint)
  return type === 'numericFlag' ? Number(value) : value
}

const moneyText = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

/** Returns the number that represents null in requests and responses. */
export const absent = (field: Extract<Field, { type: 'optionalInteger' | 'time' }>): number =>
  field.type === 'time' ? 0 : field.absent

/**
 * Decrypts the personal texts of a row. The result for a text is empty if the text is null, or if
 * the key of the text was destroyed.
 */
export async function openValues<F extends Fields>(
  fields: F,
  values: ValuesOf<F>,
  open: (text: Sealed) => Promise<string | null>,
): Promise<PlainValuesOf<F>> {
  const entries = Object.entries(fields).map(async ([name, { type }]) => {
    const value: unknown = values[name]
    if (type !== 'encryptedText') return [name, value] as const
    return [name, value === null ? '' : ((await open(value as Sealed)) ?? '')] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as PlainValuesOf<F>
}

/** Returns the distinct names in a comma-separated text. */
export const namesIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

export const mapFields = <Each extends Field, Result>(
  fields: Readonly<Record<string, Each>>,
  convert: (name: string, field: Each) => Result,
): Readonly<Record<string, Result>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, convert(name, field)]))
