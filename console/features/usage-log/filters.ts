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

/** From midnight until one hour from now. */
export const DEFAULT_RANGE = relativeRange('today')

/**
 * The filters that select rows: an empty text and 0 match everything. All of them are in the
 * address.
 */
const FILTERS = {
  type: integerParam({ fallback: 0, max: 6 }),
  token: textParam(),
  model: textParam(),
  group: textParam(),
  /** One call at any time, by the id in its answer or the first characters of that id. */
  request: textParam('', 100),
  range: rangeParam(DEFAULT_RANGE),
  /** Admins only. */
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** Admins only. */
  username: textParam(),
} as const

/** Columns that sort the newest 10 000 rows, and what the server calls them. */
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

/** The filters, and how a link shows them: order, page, page size and columns it names. */
export const LOG_URL = {
  ...FILTERS,
  sort: choiceParam<keyof typeof LOG_SORTS | ''>(
    Object.keys(LOG_SORTS) as (keyof typeof LOG_SORTS)[],
    '',
  ),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'desc'),
  p: integerParam({ fallback: 0, max: 999_999_999 }),
  page_size: pageSizeParam,
  /** Comma-separated column ids; empty means the columns remembered by this browser. */
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

/** The filters among `values`; filters for admins are removed for other users. */
export function filtersOf(values: LogFilters, isAdmin: boolean): LogFilters {
  const { type, token, model, group, request, range } = values
  const { channel, username } = isAdmin ? values : NO_FILTERS
  return { type, token, model, group, request, range, channel, username }
}

/** The number of active filters; the range counts when it is not the default. */
export const filterCount = (filters: LogFilters): number =>
  Object.keys(FILTERS).filter(
    (name) => filters[name as keyof LogFilters] !== NO_FILTERS[name as keyof LogFilters],
  ).length
