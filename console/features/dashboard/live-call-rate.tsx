import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { bufferTime, map, type Observable, scan, withLatestFrom } from 'rxjs'
import { liveStream } from '#console/api/live/browser-live-stream.ts'
import type { LiveEvent, LiveState } from '#console/api/live/live-event.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { KeyFigure } from './key-figures.tsx'

const STEP = 3
const HEIGHT = 22
const SECONDS = 60

export function LiveCallRate() {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const [seconds, setSeconds] = useState<readonly CallsInSecond[]>([])
  useEffect(() => {
    const { events$, state$ } = liveStream()
    const running = callsBySecond(events$, state$).subscribe(setSeconds)
    return () => running.unsubscribe()
  }, [])
  const rate = meanRate(seconds)
  const peak = peakOf(seconds)
  return (
    <KeyFigure
      name={t('dashboard.perSecond')}
      value={rate === null ? '–' : number.format(Math.round(rate * 10) / 10)}
      note={
        rate === null
          ? t(isStarting(seconds) ? 'dashboard.perSecondStarting' : 'dashboard.perSecondUnknown')
          : t('dashboard.perSecondPeak', { peak: number.format(peak ?? 0) })
      }
    >
      <Spark seconds={seconds} max={Math.max(1, peak ?? 0)} />
    </KeyFigure>
  )
}

const START_SECONDS = 5

/**
 * Reports whether the page was opened only a few seconds ago and has no data yet. A notice about
 * missing data would be premature.
 */
const isStarting = (seconds: readonly CallsInSecond[]): boolean =>
  seconds.length < START_SECONDS && peakOf(seconds) === null

function Spark(props: { seconds: readonly CallsInSecond[]; max: number }) {
  const { seconds, max } = props
  return (
    <svg
      className="tg-dash-spark"
      viewBox={`0 0 ${SECONDS * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {seconds.map((calls, index) => {
        if (calls === null) return null
        const height = Math.max(1, (calls / max) * HEIGHT)
        const position = SECONDS - seconds.length + index
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: seconds have no name but their place
            key={index}
            x={position * STEP}
            y={HEIGHT - height}
            width={STEP - 1}
            height={height}
          />
        )
      })}
    </svg>
  )
}

/**
 * The number of calls that ended in one second, or null if the live connection was interrupted
 * during this second.
 */
export type CallsInSecond = number | null

const SECOND_MS = 1_000
const HISTORY_SECONDS = 60
const MEAN_WINDOW_SECONDS = 10

/**
 * Emits a list once per second: the number of calls that ended in each of the last 60 seconds,
 * oldest first.
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
 * rows record changes of a balance.
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
