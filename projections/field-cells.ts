import { type FragmentSqlToken, sql } from 'slonik'
import Type, { type TSchema, type TUnsafe } from 'typebox'
import { sealedText, wireInteger } from '#infra/postgres/row-types.ts'
import { type Field, type Fields, mapFields, type ValuesOf } from '#read-api/contract/fields.ts'
import type { Cells } from './runner/row-changes.ts'

/** The columns that are not called as their field is, by field. */
type ColumnNames = Readonly<Record<string, string>>

/** A field is stored in the column of its name: `maxConcurrency` in `max_concurrency`. */
const columnOf = (name: string, names: ColumnNames): string =>
  names[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The cells of the fields. A field that is missing, because it is newer, has its initial value. */
export function cellsOfFields<F extends Fields>(
  fields: F,
  values: Partial<ValuesOf<F>>,
  names: ColumnNames,
): Cells {
  const stored = new Map<string, unknown>(Object.entries(values))
  const entries = Object.entries(fields).map(([name, { initial }]) => {
    const value = stored.get(name)
    return [columnOf(name, names), value === undefined ? initial : value] as const
  })
  return Object.fromEntries(entries) as Cells
}

/** The columns of the fields, to be selected under their names from the table of this alias. */
export const selectedFields = (
  alias: string,
  fields: Fields,
  names: ColumnNames,
): FragmentSqlToken => {
  const columns = Object.keys(fields).map((name) => {
    const column = sql.identifier([alias, columnOf(name, names)])
    return sql.fragment`${column} as ${sql.identifier([name])}`
  })
  return sql.fragment`${sql.join(columns, sql.fragment`, `)}`
}

/** The types of the selected columns. */
export const fieldColumns = <F extends Fields>(fields: F) =>
  mapFields(fields, (_name, field) => columnType(field)) as {
    readonly [Name in keyof F]: TUnsafe<ValuesOf<F>[Name]>
  }

const INT4_MAX = 2_147_483_647

function columnType(field: Field): TSchema {
  switch (field.type) {
    case 'integer':
      return field.max > INT4_MAX ? wireInteger : Type.Number()
    case 'text':
    case 'trimmedText':
      return Type.String()
    case 'sealedText':
      return sealedText
    case 'names':
      return Type.Array(Type.String())
    case 'flag':
    case 'numericFlag':
      return Type.Boolean()
  }
}
