import { pageSizeParam } from '#console/ui/lists/list-url-params.ts'
import {
  choiceParam,
  fallbacksOf,
  integerParam,
  textParam,
  type UrlValues,
} from '#console/ui/state/url-state.ts'
import { rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'

/**
 * The types of log rows: 0 all, 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error.
 */
export const LOG_TYPES = [0, 1, 2, 3, 4, 5, 6] as const
export type LogType = (typeof LOG_TYPES)[number]

/** The default range, which starts at midnight and ends one hour from now. */
export const DEFAULT_RANGE = relativeRange('today')

/**
 * The filters of the log, which are stored in the URL. A filter with an empty text or 0 is not
 * active.
 */
const FILTERS = {
  type: integerParam({ fallback: 0, max: 6 }),
  token: textParam(),
  model: textParam(),
  group: textParam(),
  /** The id of a call or the start of an id. A search by id ignores the time range. */
  request: textParam('', 100),
  range: rangeParam(DEFAULT_RANGE),
  /** The channel id. Only admins can use this filter. */
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /**
   * The id of a channel on which an attempt of the call failed. Only admins can use this filter.
   */
  failed_channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** The username. Only admins can use this filter. */
  username: textParam(),
} as const

/** The server's name of each sortable column. The server sorts only the newest 10 000 rows. */
export const LOG_SORTS = {
  time: 'created_at',
  username: 'username',
  token: 'token_name',
  model: 'model_name',
  prompt: 'prompt_tokens',
  completion: 'completion_tokens',
  timing: 'use_time',
  cost: 'quota',
  type: 'type',
  channel: 'channel',
  group: 'group',
} as const

export const LOG_URL_PARAMS = {
  ...FILTERS,
  sort: choiceParam<keyof typeof LOG_SORTS | ''>(
    Object.keys(LOG_SORTS) as (keyof typeof LOG_SORTS)[],
    '',
  ),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'desc'),
  p: integerParam({ fallback: 0, max: 999_999_999 }),
  page_size: pageSizeParam,
  /**
   * The ids of the shown columns, separated by commas. If the text is empty, the columns stored in
   * this browser are shown.
   */
  columns: textParam('', 400),
} as const

export type LogFilters = Pick<UrlValues<typeof LOG_URL_PARAMS>, keyof typeof FILTERS>

export const NO_FILTERS: LogFilters = fallbacksOf(FILTERS)

/**
 * Returns the filters in `values`. If the user is not an admin, the filters that are only for
 * admins are cleared.
 */
export function filtersOf(values: LogFilters, isAdmin: boolean): LogFilters {
  const { type, token, model, group, request, range } = values
  const { channel, failed_channel, username } = isAdmin ? values : NO_FILTERS
  return { type, token, model, group, request, range, channel, failed_channel, username }
}

/** Returns the number of active filters. The default range is not counted. */
export const filterCount = (filters: LogFilters): number =>
  Object.keys(FILTERS).filter(
    (name) => filters[name as keyof LogFilters] !== NO_FILTERS[name as keyof LogFilters],
  ).length
