import type { Sort } from '#console/ui/data-grid/column.ts'
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
 * Returns the order after a click on a column's header. Clicks on the same column select the
 * descending, the ascending and the default order in turn.
 */
export function nextSort(now: Sort | null, requested: Sort): Sort | null {
  const isThird = now?.column === requested.column && !now.isDescending && requested.isDescending
  return isThird ? null : requested
}
