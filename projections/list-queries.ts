import { type FragmentSqlToken, sql } from 'slonik'

/**
 * Returns a `like` pattern that matches values containing the text. Wildcards in the text are
 * escaped.
 */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = { readonly limit: number; readonly offset: number }

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }

/** The sort column and direction of a list. */
export type ListOrder<Sort extends string> = {
  readonly sort: Sort
  readonly isDescending: boolean
}

/**
 * Builds the `order by` terms of a list. Rows with the same value are sorted by descending `id`, so
 * that no row appears on two pages.
 */
export const orderTerms = <Sort extends string>(
  columns: Readonly<Record<Sort, FragmentSqlToken>>,
  { sort, isDescending }: ListOrder<Sort>,
  id: FragmentSqlToken,
): FragmentSqlToken => sql.fragment`${columns[sort]} ${direction(isDescending)}, ${id} desc`

const direction = (isDescending: boolean): FragmentSqlToken =>
  isDescending ? sql.fragment`desc` : sql.fragment`asc`

/**
 * The number of the newest rows that are sorted in a long list such as the log. Sorting all rows
 * would take seconds, and an index for each column and filter would slow down every write.
 */
export const SORT_WINDOW = 10_000
