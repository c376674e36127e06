import { requestFile } from '../request.ts'
import type { LogParams, LogScope } from './log-query.ts'

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
    path: ask.scope === 'all' ? '/api/log/export' : '/api/log/self/export',
    query: {
      ...{ format: ask.kind, zone: ask.zone, columns: ask.columns?.join(',') },
      ...ask.params,
    },
    signal: ask.signal,
  })
