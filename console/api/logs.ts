import type { LogEntry, LogOther, LogStat, UsagePoint } from '#read-api/contract/logs.ts'
import { addressOf, apiQuery, call } from './client.ts'
import { type ListPage, type ListSort, requestFile } from './request.ts'

/** Whose rows: one's own, or everybody's (admins). */
type LogScope = 'self' | 'all'

/** The filters as the server names them; what is empty or 0 is not sent. Times in unix seconds. */
export type LogParams = {
  type?: number | undefined
  token_name?: string
  model_name?: string
  group?: string
  request_id?: string
  channel?: number | undefined
  username?: string
  start_timestamp?: number | undefined
  end_timestamp?: number | undefined
}

/** The root of every query about calls: what the live stream makes stale. */
export const logsKey = ['logs'] as const
/** Of the log's bars over time. */
export const barsKey = [...logsKey, 'bars'] as const

/** One page of the usage log, newest first unless sorted. `page` counts from 0. */
export const listLogs = (
  ask: ListSort & {
    scope: LogScope
    params: LogParams
    page: number
    pageSize: number
    afterPosition?: number
    signal?: AbortSignal
  },
): Promise<ListPage<LogEntry>> =>
  call(ask.scope === 'all' ? 'GET /api/log/' : 'GET /api/log/self/', {
    query: {
      ...{ p: ask.page, page_size: ask.pageSize, sort: ask.sort ?? '', order: ask.order ?? '' },
      ...ask.params,
    },
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })

/** The totals of every row that the filters let through, not of a page. */
export const logStat = (ask: {
  scope: LogScope
  params: LogParams
  afterPosition?: number
  signal?: AbortSignal
}): Promise<LogStat> =>
  call(ask.scope === 'all' ? 'GET /api/log/stat' : 'GET /api/log/self/stat', {
    query: ask.params,
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })

/** Charged calls by hour and model; ends in unix seconds. Hours without any are left out. */
export async function callsByHour(ask: {
  scope: LogScope
  from: number
  to: number
  /** Admins only; empty for everybody. */
  username: string
  signal?: AbortSignal
}): Promise<UsagePoint[]> {
  const range = { start_timestamp: ask.from, end_timestamp: ask.to }
  const { scope, username, signal } = ask
  return scope === 'all'
    ? call('GET /api/data/', { query: { ...range, username }, signal })
    : call('GET /api/data/self/', { query: range, signal })
}

export type ExportKind = 'csv' | 'ndjson'

/**
 * Every row that the filters let through, as a file. `zone`: of the times in a CSV; `columns`: its
 * own, null: all.
 */
export const exportLogs = (ask: {
  scope: LogScope
  params: LogParams
  kind: ExportKind
  zone: string
  columns: readonly string[] | null
  signal: AbortSignal
}): Promise<ReadableStream<Uint8Array>> =>
  requestFile({
    ...addressOf(ask.scope === 'all' ? 'GET /api/log/export' : 'GET /api/log/self/export'),
    query: {
      ...{ format: ask.kind, zone: ask.zone, columns: ask.columns?.join(',') },
      ...ask.params,
    },
    signal: ask.signal,
  })

/** The user behind a row; for admins. */
export const logUserQuery = (userId: number) =>
  apiQuery('GET /api/user/:id', { params: { id: userId } }, ['user', userId])

const parsed = new WeakMap<LogEntry, LogOther>()

/** The row's `other`, parsed once; empty when it is no JSON object. */
export function otherOf(row: LogEntry): LogOther {
  const known = parsed.get(row)
  if (known !== undefined) return known
  const other = parseOther(row.other)
  parsed.set(row, other)
  return other
}

function parseOther(text: string): LogOther {
  try {
    const value: unknown = text === '' ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** How a call came to its end, where that needs saying. */
const END_NAMES = [
  'client-gone',
  'upstream-error',
  'timeout',
  'incomplete',
  'screened',
  'revoked',
  'interrupted',
  'no-channel',
  'refused',
] as const
type EndName = (typeof END_NAMES)[number]

/** Null for a call that was done, and for rows that are no calls. */
export const endName = (end: string | undefined): EndName | null =>
  END_NAMES.find((name) => name === end) ?? null
