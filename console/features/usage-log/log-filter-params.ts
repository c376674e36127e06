import { pageSizeParam } from '#console/ui/lists/list-url-params.ts'
import {
  choiceParam,
  fallbacksOf,
  integerParam,
  textParam,
  type UrlValues,
} from '#console/ui/state/url-state.ts'
import { rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'

/** The log types: 0 all, 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error. */
export const LOG_TYPES = [0, 1, 2, 3, 4, 5, 6] as const
export type LogType = (typeof LOG_TYPES)[number]

/** The default range is from midnight until one hour from now. */
export const DEFAULT_RANGE = relativeRange('today')

/** The filters in the URL. An empty text or 0 does not filter. */
const FILTERS = {
  type: integerParam({ fallback: 0, max: 6 }),
  token: textParam(),
  model: textParam(),
  group: textParam(),
  /** The id of a call, or the start of an id. With this filter, the time range is ignored. */
  request: textParam('', 100),
  range: rangeParam(DEFAULT_RANGE),
  /** For admins only. */
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** A channel on which an attempt of the call failed. This filter is for admins only. */
  failed_channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** For admins only. */
  username: textParam(),
} as const

/**
 * The server sorts only the newest 10 000 rows. The details have no order, because they are texts
 * of different kinds.
 */
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
  ratios: 'ratios',
  firstToken: 'first_token',
  retry: 'retries',
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
  /** Column ids. An empty list means the columns stored in this browser. */
  columns: textParam('', 400),
} as const

export type LogFilters = Pick<UrlValues<typeof LOG_URL_PARAMS>, keyof typeof FILTERS>

export const NO_FILTERS: LogFilters = fallbacksOf(FILTERS)

/** Clears the filters for admins if the user is not an admin. */
export function filtersOf(values: LogFilters, isAdmin: boolean): LogFilters {
  const { type, token, model, group, request, range } = values
  const { channel, failed_channel, username } = isAdmin ? values : NO_FILTERS
  return { type, token, model, group, request, range, channel, failed_channel, username }
}

export const filterCount = (filters: LogFilters): number =>
  Object.keys(FILTERS).filter(
    (name) => filters[name as keyof LogFilters] !== NO_FILTERS[name as keyof LogFilters],
  ).length
