import type { Sort } from '#console/ui/data-grid/column.ts'
import { choiceParam, integerParam, textParam } from '#console/ui/url-state.ts'

/** Columns that the server sorts by, by their names on the wire; empty: the list's own order. */
export const SORTS = [
  ...['', 'id', 'name', 'type', 'status', 'priority', 'weight', 'group', 'models'],
  ...['used_quota', 'response_time', 'balance', 'tag', 'expired_time', 'created_time'],
]

const STATUSES = ['', '1', '2', '3'] as const
export type ChannelStatusFilter = (typeof STATUSES)[number]

/** What the address says about the list. */
export const ADDRESS = {
  keyword: textParam(),
  model: textParam(),
  group: textParam(),
  status: choiceParam(STATUSES, ''),
  type: textParam('', 4),
  sort: choiceParam(SORTS, ''),
  order: choiceParam(['desc', 'asc'], 'desc'),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

export type ChannelFilters = {
  keyword: string
  model: string
  group: string
  status: ChannelStatusFilter
  type: string
}

export const NO_FILTERS: ChannelFilters = {
  keyword: '',
  model: '',
  group: '',
  status: '',
  type: '',
}

export const isFiltered = (filters: ChannelFilters): boolean =>
  Object.keys(NO_FILTERS).some((name) => filters[name as keyof ChannelFilters] !== '')

/** Pressed again and again, a header sorts down, up, and not at all. */
export function sortAfter(now: Sort | null, asked: Sort): { sort: string; order: 'desc' | 'asc' } {
  const isThird = now?.column === asked.column && !now.isDescending && asked.isDescending
  return isThird
    ? { sort: '', order: 'desc' }
    : { sort: asked.column, order: asked.isDescending ? 'desc' : 'asc' }
}
