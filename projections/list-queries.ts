import { type FragmentSqlToken, sql } from 'slonik'

/** Returns a `like` pattern for values that contain the text, with escaped wildcards. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = { readonly limit: number; readonly offset: number }

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }

export type ListOrder<Sort extends string> = {
  readonly sort: Sort
  readonly isDescending: boolean
}

/** Rows with the same value are sorted by descending `id`, so that no row appears on two pages. */
export const orderTerms = <Sort extends string>(
  columns: Readonly<Record<Sort, FragmentSqlToken>>,
  { sort, isDescending }: ListOrder<Sort>,
  id: FragmentSqlToken,
): FragmentSqlToken => sql.fragment`${columns[sort]} ${direction(isDescending)}, ${id} desc`

const direction = (isDescending: boolean): FragmentSqlToken =>
  isDescending ? sql.fragment`desc` : sql.fragment`asc`

/**
 * How many of the newest rows are sorted in a long list such as the log. Sorting all rows would
 * take seconds, and an index for each column and filter would slow down every write.
 */
export const SORT_WINDOW = 10_000
