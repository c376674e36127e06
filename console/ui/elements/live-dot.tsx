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

/** The state of live updates as a word and a mark. The shape of the mark differs by state. */
export function LiveDot(props: {
  kind: LiveKind
  /** The time of the next connection attempt, by `performance.now()`. */
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
