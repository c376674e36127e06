import { type LogParams, parseOtherField } from '#console/api/usage-log-queries.ts'
import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { pageSizeParam } from '#console/ui/lists/list-url-params.ts'
import {
  choiceParam,
  fallbacksOf,
  integerParam,
  textParam,
  type UrlValues,
} from '#console/ui/state/url-state.ts'
import { boundsOf, isWithin, rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'

/** The log types: 0 all, 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error. */
export const LOG_TYPES = [0, 1, 2, 3, 4, 5, 6] as const

/** The default time range. It starts at midnight and ends one hour from now. */
export const DEFAULT_RANGE = relativeRange('today')

/** The filters of the usage log, which are kept in the URL. An empty text or 0 does not filter. */
const FILTERS = {
  type: integerParam({ fallback: 0, max: 6 }),
  token: textParam(),
  model: textParam(),
  group: textParam(),
  /**
   * The id of a call, or the start of an id. If this filter is set, the time range does not apply.
   */
  request: textParam('', 100),
  range: rangeParam(DEFAULT_RANGE),
  /** The channel of the call. This filter is for admins only. */
  channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** A channel on which an attempt of the call failed. This filter is for admins only. */
  failed_channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
  /** The user who made the call. This filter is for admins only. */
  username: textParam(),
} as const

/**
 * Maps each sortable column to its name on the server. The server sorts only the newest 10,000
 * rows. The column of details can't be sorted, because it contains texts of different kinds.
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
  /**
   * The ids of the visible columns. If the list is empty, the columns that are stored in this
   * browser are visible.
   */
  columns: textParam('', 400),
} as const

export type LogFilters = Pick<UrlValues<typeof LOG_URL_PARAMS>, keyof typeof FILTERS>

export const NO_FILTERS: LogFilters = fallbacksOf(FILTERS)

/**
 * Returns the filters that apply to the user. For users who are not admins, the filters that only
 * admins may use are empty.
 */
export function filtersOf(values: LogFilters, isAdmin: boolean): LogFilters {
  const { type, token, model, group, request, range } = values
  const { channel, failed_channel, username } = isAdmin ? values : NO_FILTERS
  return { type, token, model, group, request, range, channel, failed_channel, username }
}

export const filterCount = (filters: LogFilters): number =>
  Object.keys(FILTERS).filter(
    (name) => filters[name as keyof LogFilters] !== NO_FILTERS[name as keyof LogFilters],
  ).length

/**
 * Returns a column layout with the columns whose ids the URL contains, for example in a link from
 * another user. These columns take precedence over the stored columns. When the user shows, hides
 * or moves a column or resets the layout, `forget` is called first.
 */
export function urlColumnLayout<Row>(
  layout: ColumnLayout<Row>,
  columns: string,
  forget: () => void,
): ColumnLayout<Row> {
  if (columns === '') return layout
  const visible = columns
    .split(',')
    .flatMap((id) => layout.all.filter((column) => column.id === id))
  if (visible.length === 0) return layout
  return {
    ...layout,
    visible,
    isShown: (column) => visible.includes(column),
    setShown: (id, isShown) => {
      forget()
      layout.setShown(id, isShown)
    },
    move: (id, step) => {
      forget()
      layout.move(id, step)
    },
    reset: () => {
      forget()
      layout.reset()
    },
  }
}

/**
 * Returns a link to the current view of the log. The page size and the columns, which are otherwise
 * stored only in this browser, are added to `href`.
 */
export function linkTo(
  href: string,
  view: { pageSize: number; columns: readonly string[] },
): string {
  const address = new URL(href)
  address.searchParams.set('page_size', String(view.pageSize))
  address.searchParams.set('columns', view.columns.join(','))
  return address.href
}

const ANY_TIME = relativeRange('all')

/**
 * Converts filters to the parameters of a request. A relative range, such as “the last 7 days”,
 * starts relative to `listOpenedAt` and ends relative to `now`. All pages of a list use the same
 * `listOpenedAt`, so that they show parts of the same set of rows. Times are in Unix seconds.
 */
export function logParams(filters: LogFilters, now: number, listOpenedAt = now): LogParams {
  const range = filters.request === '' ? filters.range : ANY_TIME
  const { from } = boundsOf(range, listOpenedAt)
  const { to } = boundsOf(range, now)
  return {
    type: filters.type === 0 ? undefined : filters.type,
    token_name: filters.token,
    model_name: filters.model,
    group: filters.group,
    request_id: filters.request,
    channel: filters.channel === 0 ? undefined : filters.channel,
    failed_channel: filters.failed_channel === 0 ? undefined : filters.failed_channel,
    username: filters.username,
    start_timestamp: from ?? undefined,
    end_timestamp: to ?? undefined,
  }
}

/**
 * Reports whether a row of a live event matches the filters and belongs to the user `ownId`. If
 * `ownId` is null, rows of all users match. `now` is in Unix seconds.
 */
export function matchesFilters(
  row: LogEntry,
  filters: LogFilters,
  now: number,
  ownId: number | null,
): boolean {
  if (ownId !== null && row.user_id !== ownId) return false
  if (filters.type !== 0 && row.type !== filters.type) return false
  if (filters.channel !== 0 && row.channel !== filters.channel) return false
  if (filters.failed_channel !== 0 && !hasFailedOn(row, filters.failed_channel)) return false
  const isSame = (filterValue: string, value: string): boolean =>
    filterValue === '' || filterValue === value
  return (
    isSame(filters.token, row.token_name) &&
    isSame(filters.model, row.model_name) &&
    isSame(filters.group, row.group) &&
    isSame(filters.username, row.username) &&
    (filters.request === ''
      ? isWithin(boundsOf(filters.range, now), row.created_at)
      : row.request_id.startsWith(filters.request))
  )
}

const hasFailedOn = (row: LogEntry, channelId: number): boolean =>
  parseOtherField(row).failed_channels?.includes(channelId) === true
