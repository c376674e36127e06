import type { LogEntry } from '#read-api/contract/log.ts'
import { listLogs } from '../logs/list-logs.ts'

/** Top-ups, changes by admins, gifts of the site and check-ins: each has a type of its own. */
const TYPES = [1, 3, 4, 5]

/** What the own balance gained last, newest first; `afterPosition` is included. */
export async function readGains(ask: {
  count: number
  afterPosition: number
  signal: AbortSignal
}): Promise<LogEntry[]> {
  const { count: pageSize, afterPosition, signal } = ask
  const pages = await Promise.all(
    TYPES.map((type) =>
      listLogs({ scope: 'self', params: { type }, page: 0, pageSize, afterPosition, signal }),
    ),
  )
  return pages
    .flatMap(({ items }) => items)
    .filter(({ quota }) => quota !== 0)
    .sort((one, other) => other.id - one.id)
    .slice(0, pageSize)
}
