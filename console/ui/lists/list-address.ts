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

/** The page size that an address requests; 0 if it has none. */
export const pageSizeParam: UrlParam<PageSize | 0> = {
  fallback: 0,
  read: (text) => PAGE_SIZES.find((size) => String(size) === text) ?? null,
  write: String,
}

/** The state in the address of a list: its filters, its page and its sort column. */
export type ListAddress<Filters extends UrlSchema> = {
  readonly filters: Filters
  /** The sortable columns, with the server's names for them. */
  readonly sorts: Readonly<Record<string, string>>
  /** The parameter that holds the page. */
  readonly pageName: string
  /** All parameters by name. */
  readonly params: UrlSchema
}

/** Must be called once, outside of components. `hasPageSize` allows a page size in the address. */
export function listAddress<Filters extends UrlSchema>(
  filters: Filters,
  options: {
    sorts?: Readonly<Record<string, string>>
    pageName?: string
    hasPageSize?: boolean
  } = {},
): ListAddress<Filters> {
  const { sorts = {}, pageName = 'page', hasPageSize = false } = options
  const columns = Object.keys(sorts)
  const order = { sort: choiceParam(columns, ''), order: choiceParam(['asc', 'desc'], 'desc') }
  return {
    filters,
    sorts,
    pageName,
    params: {
      ...filters,
      ...(columns.length === 0 ? {} : order),
      [pageName]: integerParam({ fallback: 0, max: 1_000_000 }),
      ...(hasPageSize ? { page_size: pageSizeParam } : {}),
    },
  }
}

/** What a list asks the server for. `page` counts from 0. */
export type ListAsk<Filters extends UrlSchema> = UrlValues<Filters> &
  ListSort & {
    readonly page: number
    readonly pageSize: PageSize
  }
