import { type FragmentSqlToken, sql } from 'slonik'
import Type, { type TSchema, type TUnsafe } from 'typebox'
import { encryptedText, nullable, quota, wireInteger } from '#infra/postgres/row-types.ts'
import {
  type Field,
  type Fields,
  mapFields,
  type ValuesOf,
  type WritableFields,
} from '#read-api/contract/resource-field-definition.ts'
import type { Cells } from './runner/row-changes.ts'

/** The column names by field, for columns whose name is not the field's name in snake case. */
type ColumnNames = Readonly<Record<string, string>>

/**
 * Returns the column name of a field, such as `max_concurrency` for `maxConcurrency`. An entry in
 * `names` overrides this name.
 */
const columnOf = (name: string, names: ColumnNames): string =>
  names[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Returns the cells of all fields. A field that is missing in an older event gets its initial
 * value. The type of `values` must contain every field, because a field that the event's type lacks
 * would always keep its initial value.
 */
export function cellsOfFields<F extends WritableFields, Values extends Partial<ValuesOf<F>>>(
  fields: F,
  values: Values &
    (keyof F extends keyof Values ? unknown : Unrecorded<Exclude<keyof F, keyof Values>>),
  names: ColumnNames = {},
): Cells {
  const stored = new Map<string, unknown>(Object.entries(values))
  const entries = Object.entries(fields).map(([name, { initial }]) => {
    const value = stored.get(name)
    return [columnOf(name, names), value === undefined ? initial : value] as const
  })
  return Object.fromEntries(entries) as Cells
}

/** The type error for fields that are not part of the event. */
type Unrecorded<Names> = { readonly unrecordedFields: Names }

/** Returns the names of the fields that have a column, with the names of their columns. */
export const columnsOf = (
  fields: Fields,
  names: ColumnNames = {},
): readonly (readonly [name: string, column: string])[] =>
  Object.keys(withColumn(fields)).map((name) => [name, columnOf(name, names)])

/**
 * Returns the `select` list with the columns of all fields, named after the fields. `alias` is the
 * alias of the table.
 */
export const selectedFields = (
  alias: string,
  fields: Fields,
  names: ColumnNames = {},
): FragmentSqlToken => {
  const columns = columnsOf(fields, names).map(
    ([name, column]) =>
      sql.fragment`${sql.identifier([alias, column])} as ${sql.identifier([name])}`,
  )
  return sql.fragment`${sql.join(columns, sql.fragment`, `)}`
}

/** Returns the column types of the fields that `selectedFields` selects. */
export const fieldColumns = <F extends Fields>(fields: F) =>
  mapFields(withColumn(fields), (_name, field) => columnType(field)) as {
    readonly [Name in keyof F as F[Name] extends Computed ? never : Name]: TUnsafe<
      ValuesOf<F>[Name]
    >
  }

type Computed = { readonly isComputed: true } | { readonly isOptional: true }

const withColumn = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([, field]) => !('isComputed' in field || 'isOptional' in field)),
  )

const INT4_MAX = 2_147_483_647

function columnType(field: Field): TSchema {
  switch (field.type) {
    case 'integer':
      return 'max' in field && field.max <= INT4_MAX ? Type.Number() : wireInteger
    case 'optionalInteger':
    case 'time':
    case 'isoTime':
    case 'timeMs':
    case 'nullableInteger':
      return nullable(wireInteger)
    case 'number':
      return Type.Number()
    case 'nullableNumber':
      return nullable(Type.Number())
    case 'money':
      return quota
    case 'choice':
      return Type.Enum([...field.values])
    case 'code':
      return Type.Enum([...field.values])
    case 'text':
    case 'name':
    case 'trimmedText':
      return Type.String()
    case 'nullableText':
      return nullable(Type.String())
    case 'encryptedText':
      return encryptedText
    case 'names':
      return Type.Array(Type.String())
    case 'flag':
    case 'numericFlag':
      return Type.Boolean()
  }
}
