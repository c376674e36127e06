import type { LogEntry } from '#read-api/contract/log.ts'
import { listLogs } from '../logs/list-logs.ts'

/** One's own call as it is in the log; null while it is not there yet. */
export async function loggedCall(call: string, signal: AbortSignal): Promise<LogEntry | null> {
  const params = { request_id: call }
  const { items } = await listLogs({ scope: 'self', params, page: 0, pageSize: 1, signal })
  return items[0] ?? null
}
