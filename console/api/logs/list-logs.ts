import type { LogEntry } from '#read-api/contract/log.ts'
import { request } from '../request.ts'
import type { LogParams, LogScope } from './log-query.ts'

export type LogPage = { items: LogEntry[]; page: number; total: number }

/** One page of the usage log, newest first. `page` counts from 0. */
export async function listLogs(ask: {
  scope: LogScope
  params: LogParams
  page: number
  pageSize: number
  afterPosition?: number
  signal?: AbortSignal
}): Promise<LogPage> {
  const { data } = await request<LogPage>({
    path: ask.scope === 'all' ? '/api/log/' : '/api/log/self/',
    query: { p: ask.page, page_size: ask.pageSize, ...ask.params },
    ...(ask.afterPosition === undefined ? {} : { afterPosition: ask.afterPosition }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
