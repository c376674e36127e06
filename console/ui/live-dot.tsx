import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

export type LiveKind =
  | 'live'
  | 'held'
  | 'paused'
  | 'connecting'
  | 'reconnecting'
  | 'offline'
  | 'resting'
  | 'past'

/** Whether what is shown renews itself: a word, and a mark of its own shape for each state. */
export function LiveDot(props: {
  kind: LiveKind
  /** While reconnecting: the moment of the next try, in unix milliseconds. */
  retryAt?: number | undefined
}): ReactElement {
  const { t } = useTranslation()
  const seconds = useSecondsUntil(props.retryAt ?? null)
  return (
    <output className={`tg-live-dot tg-live-dot-${props.kind}`}>
      {t(`ui.live.${props.kind}`, { seconds })}
    </output>
  )
}

/** Whole seconds left until a moment (unix milliseconds), counted down. */
function useSecondsUntil(at: number | null): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (at === null) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [at])
  return at === null ? 0 : Math.max(0, Math.ceil((at - now) / 1000))
}
