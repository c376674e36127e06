import { type FragmentSqlToken, sql } from 'slonik'

/** Returns a `like` pattern for values that contain the text, with escaped wildcards. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = {
  readonly limit: number
  readonly offset: number
  /** The id of the last row of the previous page. If it is present, the offset is 0. */
  readonly after?: number
}

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }

export type ListOrder<Sort extends string> = {
  readonly sort: Sort
  readonly isDescending: boolean
}

/**
 * Returns the terms of an `order by` clause. Rows with the same value are sorted by descending
 * `id`, so that no row appears on two pages.
 */
export const orderTerms = <Sort extends string>(
  columns: Readonly<Record<Sort, FragmentSqlToken>>,
  { sort, isDescending }: ListOrder<Sort>,
  id: FragmentSqlToken,
): FragmentSqlToken => sql.fragment`${columns[sort]} ${direction(isDescending)}, ${id} desc`

/**
 * The largest bigint. It takes the place of a missing value, so that the row is last in ascending
 * order.
 */
export const SORTED_LAST = sql.fragment`9223372036854775807`

/**
 * Returns the SQL condition that restricts a list to the rows after the row with the id `after`.
 * Unlike an offset, this condition does not shift pages when rows are added or deleted. `visible`
 * consists of a `from` and a `where` clause that select only rows that the caller may see.
 */
export const followsRow = <Sort extends string>(
  columns: Readonly<Record<Sort, FragmentSqlToken>>,
  { sort, isDescending, after }: ListOrder<Sort> & Pick<Slice, 'after'>,
  idColumn: NoInfer<Sort>,
  visible: FragmentSqlToken,
): FragmentSqlToken => {
  if (after === undefined) return sql.fragment`true`
  const id = columns[idColumn]
  const comparison = isDescending ? sql.fragment`<` : sql.fragment`>`
  if (sort === idColumn) return sql.fragment`${id} ${comparison} ${after}`
  const value = sql.fragment`(select ${columns[sort]} ${visible} and ${id} = ${after})`
  return sql.fragment`(
    ${columns[sort]} ${comparison} ${value} or (${columns[sort]} = ${value} and ${id} < ${after})
  )`
}

const direction = (isDescending: boolean): FragmentSqlToken =>
  isDescending ? sql.fragment`desc` : sql.fragment`asc`

/**
 * The number of newest rows that can be sorted in a long list such as the log. Older rows are left
 * out of the sorted list. Sorting all rows would take seconds. An index for each column and filter
 * would slow down every write.
 */
export const SORT_WINDOW = 10_000
