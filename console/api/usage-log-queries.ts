import { queryOptions } from '@tanstack/react-query'
import type { LogEntry, LogOther, LogStat, UsagePoint } from '#read-api/contract/logs.ts'
import { ApiError } from './api-error.ts'
import { apiQuery, call, methodAndPath } from './client.ts'
import { parseObject } from './parse-json-object.ts'
import { type ListPage, type ListSort, requestFile } from './request.ts'

type LogScope = 'self' | 'all'

/**
 * The filters of the usage log. A filter that is empty or 0 is not sent. Times are in Unix seconds.
 */
export type LogParams = {
  type?: number | undefined
  token_name?: string
  model_name?: string
  group?: string
  request_id?: string
  channel?: number | undefined
  failed_channel?: number | undefined
  username?: string
  start_timestamp?: number | undefined
  end_timestamp?: number | undefined
}

export const logsKey = ['logs'] as const
export const callBarsKey = [...logsKey, 'bars'] as const

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
      p: ask.page,
      page_size: ask.pageSize,
      sort: ask.sort ?? '',
      order: ask.order ?? '',
      ...ask.params,
    },
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })

/**
 * Reads the usage log row of a call. The result is null if the log has no such row, for example
 * because the call has not ended yet.
 */
export const rowOfCallQuery = (requestId: string, scope: LogScope) =>
  queryOptions({
    queryKey: [...logsKey, 'call', scope, requestId],
    queryFn: async ({ signal }) => {
      const params = { request_id: requestId }
      const { items } = await listLogs({ scope, params, page: 0, pageSize: 10, signal })
      return items.find((row) => row.request_id === requestId) ?? null
    },
  })

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

/**
 * Returns the number of calls and their charges by hour and model. Hours without calls have no
 * entry. `from` and `to` are in Unix seconds.
 */
export async function callsByHour(ask: {
  scope: LogScope
  from: number
  to: number
  /**
   * The user whose calls are counted, or an empty text for all users. This filter has an effect
   * only for the scope `all`.
   */
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
 * Downloads a file with the log rows that match the filters. `zone` is the time zone for the times
 * in the file. If `columns` is null, the file has all columns.
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
    ...methodAndPath(ask.scope === 'all' ? 'GET /api/log/export' : 'GET /api/log/self/export'),
    query: { format: ask.kind, zone: ask.zone, columns: ask.columns?.join(','), ...ask.params },
    signal: ask.signal,
  })

export const logUserQuery = (userId: number) =>
  apiQuery('GET /api/user/:id', { params: { id: userId } }, ['user', userId])

const NAME_FRESH_MS = 60_000

/** Reads the name of a channel. Only admins may read it. A deleted channel has an empty name. */
export const channelNameQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel-name', id],
    queryFn: async ({ signal }) => {
      try {
        return (await call('GET /api/channel/:id', { params: { id }, signal })).name
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return ''
        throw error
      }
    },
    staleTime: NAME_FRESH_MS,
  })

const parsed = new WeakMap<LogEntry, LogOther>()

/**
 * Parses the JSON text in the field `other` of a row, and caches the result. Returns `{}` if the
 * text is not an object.
 */
export function parseOtherField(row: LogEntry): LogOther {
  const cached = parsed.get(row)
  if (cached !== undefined) return cached
  const other: LogOther = parseObject(row.other) ?? {}
  parsed.set(row, other)
  return other
}

const END_NAMES = [
  'client-gone',
  'upstream-error',
  'timeout',
  'incomplete',
  'screened',
  'revoked',
  'balance-spent',
  'over-limit',
  'draining',
  'store-unavailable',
  'interrupted',
  'no-channel',
  'not-sent',
  'refused',
] as const
type EndName = (typeof END_NAMES)[number]

export const failureName = (end: string | undefined): EndName | null =>
  END_NAMES.find((name) => name === end) ?? null
