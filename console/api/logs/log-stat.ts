import type { LogStat } from '#read-api/contract/log.ts'
import { request } from '../request.ts'
import type { LogParams, LogScope } from './log-query.ts'

/** The totals of every row that the filters let through, not of a page. */
export async function logStat(ask: {
  scope: LogScope
  params: LogParams
  afterPosition?: number
  signal?: AbortSignal
}): Promise<LogStat> {
  const { data } = await request<LogStat>({
    path: ask.scope === 'all' ? '/api/log/stat' : '/api/log/self/stat',
    query: ask.params,
    ...(ask.afterPosition === undefined ? {} : { afterPosition: ask.afterPosition }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
