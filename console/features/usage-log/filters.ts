import { pageSizeParam } from '#console/ui/lists/list-address.ts'
import {
  choiceParam,
  integerParam,
  textParam,
  type UrlValues,
} from '#console/ui/state/url-state.ts'
import { rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'

/** 0 all, 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error. */
export const LOG_TYPES = [0, 1, 2, 3, 4, 5, 6] as const
export type LogType = (typeof LOG_TYPES)[number]

/** The default range is from midnight until one hour ahead. */
export const DEFAULT_RANGE = relativeRange('today')

/** The filters of the log, all stored in the URL. An empty text and 0 do not filter. */
const FILTERS = {
  type: integerParam({ fallback: 0, max: 6 }),
  token: textParam(),
  model: textParam(),
  group: textParam(),
  /** A call's id, or the first characters of an id; it also finds calls outside the range. */
  request: textParam('', 100),
  range: rangeParam(DEFAULT_RANGE),
  /** Admins only. */
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** Admins only. */
  username: textParam(),
} as const

/** The server's sort names by column id; sorting covers the newest 10 000 rows. */
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

/** The URL parameters: filters, order, page, page size and columns. */
export const LOG_URL = {
  ...FILTERS,
  sort: choiceParam<keyof typeof LOG_SORTS | ''>(
    Object.keys(LOG_SORTS) as (keyof typeof LOG_SORTS)[],
    '',
  ),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'desc'),
  p: integerParam({ fallback: 0, max: 999_999_999 }),
  page_size: pageSizeParam,
  /** Comma-separated column ids of a link; empty means the columns stored in this browser. */
  columns: textParam('', 400),
} as const

export type LogFilters = Pick<UrlValues<typeof LOG_URL>, keyof typeof FILTERS>

export const NO_FILTERS: LogFilters = {
  type: 0,
  token: '',
  model: '',
  group: '',
  request: '',
  range: DEFAULT_RANGE,
  channel: 0,
  username: '',
}

/** Returns only the filters of `values`, without the admin filters for other users. */
export function filtersOf(values: LogFilters, isAdmin: boolean): LogFilters {
  const { type, token, model, group, request, range } = values
  const { channel, username } = isAdmin ? values : NO_FILTERS
  return { type, token, model, group, request, range, channel, username }
}

/** Returns the number of active filters; the default range does not count. */
export const filterCount = (filters: LogFilters): number =>
  Object.keys(FILTERS).filter(
    (name) => filters[name as keyof LogFilters] !== NO_FILTERS[name as keyof LogFilters],
  ).length
