import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live-stream.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { type CallsInSecond, callsBySecond, meanRate, peakOf } from './call-rate.ts'
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
 * Reports whether the page was opened only a few seconds ago and has no data yet. The page then
 * says that it is counting, and not that the connection is missing.
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
            // biome-ignore lint/suspicious/noArrayIndexKey: a second is identified by its position
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
