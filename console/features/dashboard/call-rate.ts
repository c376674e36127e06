import { bufferTime, map, type Observable, scan, withLatestFrom } from 'rxjs'
import type { LiveEvent, LiveState } from '#console/api/live/live-event.ts'

/**
 * The number of calls that ended in one second, or null if the live connection was interrupted
 * during this second.
 */
export type CallsOfSecond = number | null

const SECOND_MS = 1_000
const SECONDS_KEPT = 60
const MEAN_OF = 10

/**
 * Emits a list once per second: the number of calls that ended in each of the last 60 seconds,
 * oldest first.
 */
export function callsBySecond(
  events$: Observable<LiveEvent>,
  state$: Observable<LiveState>,
): Observable<readonly CallsOfSecond[]> {
  return events$.pipe(
    bufferTime(SECOND_MS),
    withLatestFrom(state$),
    map(([events, state]) => (state.kind === 'live' ? callsOf(events) : null)),
    scan<CallsOfSecond, readonly CallsOfSecond[]>(
      (kept, calls) => [...kept, calls].slice(-SECONDS_KEPT),
      [],
    ),
  )
}

function callsOf(events: readonly LiveEvent[]): CallsOfSecond {
  const ofLog = events.filter(({ topic }) => topic === 'logs')
  if (ofLog.some(({ kind }) => kind === 'resync')) return null
  return ofLog.filter((event) => event.kind === 'event' && isCall(event.data)).length
}

/**
 * Reports whether a row of the usage log is about a call. Only these rows have a request id. Other
 * rows record changes of a balance.
 */
const isCall = (data: object): boolean => 'request_id' in data && data.request_id !== ''

/**
 * Returns the mean number of calls per second over the last ten seconds. Seconds with an unknown
 * number are left out. Returns null if the number of the newest second is unknown.
 */
export function rateOf(seconds: readonly CallsOfSecond[]): number | null {
  const recent = seconds.slice(-MEAN_OF)
  const measured = recent.filter((calls) => calls !== null)
  if (recent.at(-1) == null) return null
  return measured.reduce((sum, calls) => sum + calls, 0) / measured.length
}

export const peakOf = (seconds: readonly CallsOfSecond[]): number | null =>
  seconds.reduce((peak, calls) => (calls === null ? peak : Math.max(peak ?? 0, calls)), null)
