import { type FragmentSqlToken, sql } from 'slonik'

/** A pattern for `like` that matches the text anywhere; wildcards in the text are escaped. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = { readonly limit: number; readonly offset: number }

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }

/** The order of a list: a column, and its direction. */
export type ListOrder<Sort extends string> = {
  readonly sort: Sort
  readonly isDescending: boolean
}

/**
 * The terms of `order by`. Rows that are equal in the column come newest first by `id`, so that
 * the pages of a list share no row.
 */
export const orderTerms = <Sort extends string>(
  columns: Readonly<Record<Sort, FragmentSqlToken>>,
  { sort, isDescending }: ListOrder<Sort>,
  id: FragmentSqlToken,
): FragmentSqlToken => sql.fragment`${columns[sort]} ${direction(isDescending)}, ${id} desc`

const direction = (isDescending: boolean): FragmentSqlToken =>
  isDescending ? sql.fragment`desc` : sql.fragment`asc`

/**
 * Long lists, such as the log, are sorted within their newest rows only: an index per column and
 * filter would slow down every write, and a sort of all rows takes seconds.
 */
export const SORT_WINDOW = 10_000
