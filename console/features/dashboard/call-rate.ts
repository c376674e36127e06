import { bufferTime, map, type Observable, scan, withLatestFrom } from 'rxjs'
import type { LiveEvent, LiveState } from '#console/api/live/live-event.ts'

/**
 * The number of calls that ended in one second, or null if the live connection was interrupted
 * during this second.
 */
export type CallsInSecond = number | null

const SECOND_MS = 1_000
const HISTORY_SECONDS = 60
const MEAN_WINDOW_SECONDS = 10

/**
 * Emits a list once per second: the number of calls that ended in each of the last seconds (at most
 * 60), oldest first.
 */
export function callsBySecond(
  events$: Observable<LiveEvent>,
  state$: Observable<LiveState>,
): Observable<readonly CallsInSecond[]> {
  return events$.pipe(
    bufferTime(SECOND_MS),
    withLatestFrom(state$),
    map(([events, state]) => (state.kind === 'live' ? callsOf(events) : null)),
    scan<CallsInSecond, readonly CallsInSecond[]>(
      (previous, calls) => [...previous, calls].slice(-HISTORY_SECONDS),
      [],
    ),
  )
}

function callsOf(events: readonly LiveEvent[]): CallsInSecond {
  const logEvents = events.filter(({ topic }) => topic === 'logs')
  if (logEvents.some(({ kind }) => kind === 'resync')) return null
  return logEvents.filter((event) => event.kind === 'event' && isCall(event.data)).length
}

/**
 * Reports whether a row of the usage log is about a call. Only these rows have a request id. Other
 * rows, such as those of top-ups, are not counted.
 */
const isCall = (data: object): boolean => 'request_id' in data && data.request_id !== ''

/**
 * Returns the mean number of calls per second over the last ten seconds. Seconds with an unknown
 * number are left out. Returns null if the number of the newest second is unknown.
 */
export function meanRate(seconds: readonly CallsInSecond[]): number | null {
  const recent = seconds.slice(-MEAN_WINDOW_SECONDS)
  const measured = recent.filter((calls) => calls !== null)
  if (recent.at(-1) == null) return null
  return measured.reduce((sum, calls) => sum + calls, 0) / measured.length
}

export const peakOf = (seconds: readonly CallsInSecond[]): number | null =>
  seconds.reduce((peak, calls) => (calls === null ? peak : Math.max(peak ?? 0, calls)), null)
