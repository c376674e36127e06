import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useSecondsLeft } from './use-countdown.ts'

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
  /** While reconnecting: the moment of the next attempt, by `performance.now()`. */
  retryAt?: number | undefined
}): ReactElement {
  const { t } = useTranslation()
  const seconds = useSecondsLeft(props.retryAt ?? null)
  return (
    <output className={`tg-live-dot tg-live-dot-${props.kind}`}>
      {t(`ui.live.${props.kind}`, { seconds })}
    </output>
  )
}
