import type { ListSort } from '#console/api/request.ts'
import {
  choiceParam,
  integerParam,
  type UrlParam,
  type UrlSchema,
  type UrlValues,
} from '../state/url-state.ts'

export const PAGE_SIZES = [10, 20, 50, 100] as const
export type PageSize = (typeof PAGE_SIZES)[number]

/** The URL parameter for the page size. The value is 0 if the URL contains no page size. */
export const pageSizeParam: UrlParam<PageSize | 0> = {
  fallback: 0,
  read: (text) => PAGE_SIZES.find((size) => String(size) === text) ?? null,
  write: String,
}

export type ListUrlParams<Filters extends UrlSchema> = {
  readonly filters: Filters
  /** Maps the id of each sortable column to the column's name on the server. */
  readonly sorts: Readonly<Record<string, string>>
  readonly pageName: string
  /**
   * True if the list has keyset pagination: the server can start a page after a given row. `after`
   * is the id of the last row of the previous page.
   */
  readonly isKeyset: boolean
  readonly params: UrlSchema
}

/**
 * Defines the URL parameters of a list. Assign the result to a constant of a module, so that every
 * rendering gets the same object. `hasPageSize` adds the page size to the URL.
 */
export function listUrlParams<Filters extends UrlSchema>(
  filters: Filters,
  options: {
    sorts?: Readonly<Record<string, string>>
    pageName?: string
    hasPageSize?: boolean
    isKeyset?: boolean
  } = {},
): ListUrlParams<Filters> {
  const { sorts = {}, pageName = 'page', hasPageSize = false, isKeyset = false } = options
  const columns = Object.keys(sorts)
  const order = { sort: choiceParam(columns, ''), order: choiceParam(['asc', 'desc'], 'desc') }
  return {
    filters,
    sorts,
    pageName,
    isKeyset,
    params: {
      ...filters,
      ...(columns.length === 0 ? {} : order),
      [pageName]: integerParam({ fallback: 0, max: 1_000_000 }),
      ...(hasPageSize ? { page_size: pageSizeParam } : {}),
    },
  }
}

/** The filters, the order and the page of a list. `page` starts at 0. */
export type ListQuery<Filters extends UrlSchema> = UrlValues<Filters> &
  ListSort & {
    readonly page: number
    readonly pageSize: PageSize
    /**
     * The id of the last row of the previous page. Undefined if the user has not seen that page.
     */
    readonly after?: number
  }
