import type { StandardSchemaV1 } from '@standard-schema/spec'
import Type, { type Static, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { Sealed } from '#domain/shared/event.ts'

type Convert = (value: never) => unknown

/** The conversion functions by column type. TypeBox's own conversions take 0.3 ms per row. */
const conversions = new WeakMap<TSchema, Convert>()

/**
 * Returns a column type. `schema` validates the value from the database, and `convert` converts it.
 */
export function converted<Schema extends TSchema, Value>(
  schema: Schema,
  convert: (value: Static<Schema>) => Value,
): TUnsafe<Value> {
  // NOTE: spread syntax would lose the refinements of the schema, which TypeBox stores in hidden
  // properties.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  conversions.set(copy, convert)
  return copy as TUnsafe<Value>
}

export function nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const column = Type.Unsafe<Static<Schema> | null>(Type.Union([schema, Type.Null()]))
  const convert = conversions.get(schema)
  if (convert !== undefined) {
    conversions.set(column, (value) => (value === null ? null : convert(value)))
  }
  return column
}

export function arrayOf<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema>[]> {
  const column = Type.Unsafe<Static<Schema>[]>(Type.Array(schema))
  const convert = conversions.get(schema)
  if (convert !== undefined) conversions.set(column, (values: never[]) => values.map(convert))
  return column
}

/**
 * Returns the type of a JSON column that only this application writes. The shape of the JSON is not
 * validated.
 */
export const jsonOf = <Value>(): TUnsafe<Value> => Type.Unsafe<Value>(Type.Unknown())

/** An `int8` column that is read as a number. A value beyond ±(2^53 − 1) is a bug and throws. */
export const wireInteger = converted(
  Type.Refine(
    Type.BigInt(),
    (value) => Number.isSafeInteger(Number(value)),
    () => 'beyond 2^53',
  ),
  Number,
)

/** An `int8` column that contains quota. */
export const quota = Type.BigInt()

/** A `timestamptz` column, read as ISO text in UTC with milliseconds. */
export const isoTime = Type.String({ format: 'date-time' })

/** A `numeric` column, read as its exact text. */
export const decimalText = Type.String()

/** A `numeric` column that contains a sum of quota, read as bigint. */
export const quotaSum = converted(Type.String({ pattern: '^-?[0-9]+$' }), BigInt)

/** A `numeric` column that contains a count, read as a number. */
export const countSum = converted(Type.String(), Number)

/** A text column that is encrypted with the key of the user to whom the row belongs. */
const sealed = Type.Unsafe<Sealed>(Type.String())

export const encryptedText = nullable(sealed)

export type RowType<Row> = StandardSchemaV1<unknown, Row>

export type RowOf<Type extends RowType<unknown>> = StandardSchemaV1.InferOutput<Type>

/**
 * Returns a row type. The validator of the type is compiled when the first row is read, to keep the
 * start fast.
 */
export function rowType<Columns extends TProperties>(
  columns: Columns,
): RowType<Static<ReturnType<typeof Type.Object<Columns>>>>
export function rowType<Columns extends TProperties, Row>(
  columns: Columns,
  read: (row: Static<ReturnType<typeof Type.Object<Columns>>>) => Row,
): RowType<Row>
export function rowType(columns: TProperties, read?: (row: never) => unknown): RowType<unknown> {
  const converting = Object.entries(columns).flatMap(([name, schema]) => {
    const convert = conversions.get(schema)
    return convert === undefined ? [] : [[name, convert] as const]
  })
  let validator: Validator | null = null
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    validator ??= Compile(Type.Object(columns))
    if (!validator.Check(value)) {
      const issues = [...validator.Errors(value)].map(({ instancePath, message }) => ({
        message: `${instancePath} ${message}`,
      }))
      return { issues }
    }
    const row: Record<string, unknown> = { ...(value as object) }
    for (const [name, convert] of converting) row[name] = convert(row[name] as never)
    return { value: read === undefined ? row : read(row as never) }
  }
  return { '~standard': { version: 1, vendor: 'tallygate', validate } }
}
