import type { Sort } from '#console/ui/data-grid/column-and-layout.ts'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { choiceParam, textParam, type UrlValues } from '#console/ui/state/url-state.ts'

const SORTS = [
  ...['id', 'name', 'type', 'status', 'priority', 'weight', 'group', 'models'],
  ...['used_quota', 'response_time', 'balance', 'tag', 'expired_time', 'created_time'],
]

const STATUSES = ['', '1', '2', '3'] as const

export const CHANNEL_URL_PARAMS = listUrlParams(
  {
    keyword: textParam(),
    model: textParam(),
    group: textParam(),
    status: choiceParam(STATUSES, ''),
    type: textParam('', 4),
  },
  { sorts: Object.fromEntries(SORTS.map((column) => [column, column])) },
)

export type ChannelFilters = UrlValues<typeof CHANNEL_URL_PARAMS.filters>

/**
 * Returns the sort order after a click on a column's header, or null for the default order. The
 * first click on a column selects the descending order, the second the ascending order, and the
 * third the default order.
 */
export function nextSort(current: Sort | null, requested: Sort): Sort | null {
  const isThirdClick =
    current?.column === requested.column && !current.isDescending && requested.isDescending
  return isThirdClick ? null : requested
}
