import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useSecondsLeft } from '../state/use-countdown.ts'

export type LiveKind =
  | 'live'
  | 'held'
  | 'paused'
  | 'connecting'
  | 'reconnecting'
  | 'offline'
  | 'resting'
  | 'past'

/** The connection state of the live updates: a word, and a mark whose shape differs by state. */
export function LiveDot(props: {
  kind: LiveKind
  /** The time of the next connection attempt, in `performance.now()` milliseconds. */
  retryAt?: number | undefined
}): ReactElement {
  const { t } = useTranslation()
  const seconds = useSecondsLeft(props.retryAt ?? null)
  return (
    <output className={`tg-live-dot tg-live-dot-${props.kind}`}>
      {t(`words.live.${props.kind}`, { seconds })}
    </output>
  )
}
