import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live-stream.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import { useSecondsLeft } from '../state/use-countdown.ts'
import { Button } from './button.tsx'

type LiveKind = keyof Translations['shared']['live']

function LiveDot(props: {
  kind: LiveKind
  /** The time of the next attempt to connect, on the clock of `performance.now()` (ms). */
  retryAt?: number | undefined
}) {
  const { t } = useTranslation()
  const seconds = useSecondsLeft(props.retryAt ?? null)
  return (
    <output className={`tg-live-dot tg-live-dot-${props.kind}`}>
      {t(`shared.live.${props.kind}`, { seconds })}
    </output>
  )
}

/**
 * Shows whether live events arrive, or nothing while a scratch copy (the site as of an earlier
 * time) is open. While the connection works, shows `kind`. Otherwise, shows the state of the
 * connection. While the console waits to reconnect, a button to reconnect immediately is shown
 * instead of `children`.
 */
export function LiveIndicator(props: { kind?: LiveKind; children?: ReactNode }) {
  const { t } = useTranslation()
  const state = useLiveState()
  if (currentScratchCopy() !== null) return null
  const isReconnecting = state.kind === 'reconnecting'
  const kind = state.kind === 'live' ? (props.kind ?? 'live') : state.kind
  return (
    <>
      <LiveDot kind={kind} retryAt={isReconnecting ? state.retryAt : undefined} />
      {isReconnecting ? (
        <Button
          tone="quiet"
          icon="refresh"
          label={t('shared.reconnectNow')}
          onClick={() => liveStream().retryNow()}
        />
      ) : (
        props.children
      )}
    </>
  )
}
