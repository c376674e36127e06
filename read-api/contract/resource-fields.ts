import type { Sealed } from '#domain/shared/event.ts'

/**
 * A field of a resource that is stored as it is sent. The request and response schemas, the
 * database column, and the console's form with its validation are derived from this description.
 * `initial` is the value in a new resource, and in a resource that was stored before the field
 * existed.
 */
export type Field = { readonly wire: string } & (
  | {
      readonly type: 'integer'
      readonly min: number
      readonly max: number
      readonly initial: number
    }
  | { readonly type: 'text'; readonly maxLength: number; readonly initial: string }
  /** Text without surrounding spaces. A request may send null for an empty text. */
  | { readonly type: 'trimmedText'; readonly maxLength: number; readonly initial: string }
  /**
   * Personal text, stored encrypted with its owner's key. A request may send null for an empty
   * text.
   */
  | { readonly type: 'sealedText'; readonly maxLength: number; readonly initial: null }
  /** Distinct names. On the wire they are separated by commas. */
  | { readonly type: 'names'; readonly maxLength: number; readonly initial: readonly string[] }
  | { readonly type: 'flag'; readonly initial: boolean }
  /** A flag that is 1 or 0 on the wire. */
  | { readonly type: 'numericFlag'; readonly initial: boolean }
)
export type FieldType = Field['type']
export type Fields = Readonly<Record<string, Field>>

type Plain = {
  integer: number
  text: string
  trimmedText: string
  sealedText: string
  names: readonly string[]
  flag: boolean
  numericFlag: boolean
}
type Stored = Omit<Plain, 'sealedText'> & { sealedText: Sealed | null }
type Answered = Omit<Plain, 'names' | 'numericFlag'> & { names: string; numericFlag: number }

/** The values of the fields by their names in the domain. Personal texts are encrypted. */
export type ValuesOf<F extends Fields> = { readonly [Name in keyof F]: Stored[F[Name]['type']] }

/** The values of the fields by their names in the domain. Personal texts are decrypted. */
export type PlainValuesOf<F extends Fields> = { readonly [Name in keyof F]: Plain[F[Name]['type']] }

/** The values of the fields by their names on the wire, in the form of responses. */
export type AnswerOf<F extends Fields> = {
  [Name in keyof F as F[Name]['wire']]: Answered[F[Name]['type']]
}

export const initialValues = <F extends Fields>(fields: F): ValuesOf<F> =>
  mapFields(fields, (_name, { initial }) => initial) as ValuesOf<F>

/** Returns the values of the fields that the request contains. */
export function sentValues<F extends Fields>(fields: F, body: object): Partial<PlainValuesOf<F>> {
  const sent = new Map<string, unknown>(Object.entries(body))
  const present = Object.entries(fields).filter(([, { wire }]) => sent.get(wire) !== undefined)
  const values = mapFields(Object.fromEntries(present), (_name, field) =>
    plainValue(field, sent.get(field.wire) as string | number | boolean | null),
  )
  return values as Partial<PlainValuesOf<F>>
}

function plainValue({ type }: Field, sent: string | number | boolean | null): unknown {
  if (type === 'trimmedText') return String(sent ?? '').trim()
  if (type === 'sealedText') return sent ?? ''
  if (type === 'names') return namesIn(String(sent))
  return type === 'numericFlag' ? sent === 1 : sent
}

/** Returns the values in the form of responses. */
export function answerOf<F extends Fields>(fields: F, values: PlainValuesOf<F>): AnswerOf<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    field.wire,
    answeredValue(field, values[name]),
  ])
  return Object.fromEntries(entries) as AnswerOf<F>
}

function answeredValue({ type }: Field, value: unknown): unknown {
  if (type === 'names') return (value as readonly string[]).join(',')
  return type === 'numericFlag' ? Number(value) : value
}

/** Decrypts the personal texts. A text is empty if `open` finds no key for it. */
export async function openValues<F extends Fields>(
  fields: F,
  values: ValuesOf<F>,
  open: (text: Sealed) => Promise<string | null>,
): Promise<PlainValuesOf<F>> {
  const entries = Object.entries(fields).map(async ([name, { type }]) => {
    const value: unknown = values[name]
    if (type !== 'sealedText') return [name, value] as const
    return [name, value === null ? '' : ((await open(value as Sealed)) ?? '')] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as PlainValuesOf<F>
}

/** Returns the names in a comma-separated text, without duplicates. */
export const namesIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

export const mapFields = <Result>(
  fields: Fields,
  convert: (name: string, field: Field) => Result,
): Readonly<Record<string, Result>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, convert(name, field)]))
