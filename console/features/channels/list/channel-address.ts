import type { Sort } from '#console/ui/data-grid/column.ts'
import { listAddress } from '#console/ui/list-address.ts'
import { choiceParam, textParam, type UrlValues } from '#console/ui/url-state.ts'

/** Columns that the server sorts by, which have their names on the wire. */
const SORTS = [
  ...['id', 'name', 'type', 'status', 'priority', 'weight', 'group', 'models'],
  ...['used_quota', 'response_time', 'balance', 'tag', 'expired_time', 'created_time'],
]

const STATUSES = ['', '1', '2', '3'] as const

/** What the address says about the list. */
export const ADDRESS = listAddress(
  {
    keyword: textParam(),
    model: textParam(),
    group: textParam(),
    status: choiceParam(STATUSES, ''),
    type: textParam('', 4),
  },
  { sorts: Object.fromEntries(SORTS.map((column) => [column, column])) },
)

export type ChannelFilters = UrlValues<typeof ADDRESS.filters>

/** Pressed again and again, a header sorts down, up, and not at all. */
export function sortAfter(now: Sort | null, asked: Sort): Sort | null {
  const isThird = now?.column === asked.column && !now.isDescending && asked.isDescending
  return isThird ? null : asked
}
