import { requestFile } from '../request.ts'
import type { LogParams, LogScope } from './log-query.ts'

export type ExportKind = 'csv' | 'ndjson'

/** Every row that the filters let through, as a file. `zone`: of the times in a CSV. */
export const exportLogs = (ask: {
  scope: LogScope
  params: LogParams
  kind: ExportKind
  zone: string
  signal: AbortSignal
}): Promise<ReadableStream<Uint8Array>> =>
  requestFile({
    path: ask.scope === 'all' ? '/api/log/export' : '/api/log/self/export',
    query: { format: ask.kind, zone: ask.zone, ...ask.params },
    signal: ask.signal,
  })
