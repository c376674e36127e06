import {
  choiceParam,
  integerParam,
  type UrlParam,
  type UrlSchema,
  type UrlValues,
} from './url-state.ts'

export const PAGE_SIZES = [10, 20, 50, 100] as const
export type PageSize = (typeof PAGE_SIZES)[number]

/** The page size that an address asks for; 0: it does not say. */
export const pageSizeParam: UrlParam<PageSize | 0> = {
  fallback: 0,
  read: (text) => PAGE_SIZES.find((size) => String(size) === text) ?? null,
  write: String,
}

/** What the address of a list holds: its filters, its page, and the column that sorts it. */
export type ListAddress<Filters extends UrlSchema> = {
  readonly filters: Filters
  /** Columns that sort the list, and what the server calls them. */
  readonly sorts: Readonly<Record<string, string>>
  /** The parameter that holds the page. */
  readonly pageName: string
  /** All parameters by name. */
  readonly params: UrlSchema
}

/** Must be called once, outside of components. `hasPageSize`: the address may name that, too. */
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
export type ListAsk<Filters extends UrlSchema> = UrlValues<Filters> & {
  readonly page: number
  readonly pageSize: PageSize
  /** As the server names the column; left out for the order of the server. */
  readonly sort?: string
  readonly order?: 'asc' | 'desc'
}
