import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { countdownText } from './figure-text.ts'

const TICK_MS = 1_000

/** What is left of a pause; once it is over, that the next call tries it. */
export function Countdown({ until }: { until: number }): ReactElement {
  const { t } = useTranslation()
  const [now, setNow] = useState(Date.now)
  const isOver = now >= until
  useEffect(() => {
    // Not drawn twice as it appears: rows come by as the board scrolls.
    setNow((was) => (Date.now() - was < TICK_MS ? was : Date.now()))
    if (Date.now() >= until) return
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [until])
  return (
    <span className="tg-health-count">
      {isOver ? t('health.due') : t('health.left', { time: countdownText(until - now) })}
    </span>
  )
}
