import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live.ts'
import type { LiveState } from '#console/api/live/live-event.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { LiveDot, type LiveKind } from '#console/ui/elements/live-dot.tsx'

type Props = {
  isPaused: boolean
  /** True while the user reads the list, during which new rows are not inserted. */
  isHeld: boolean
  /** True if no new row can appear, because the range has ended or this is not the first page. */
  isPast: boolean
  onPause: (isPaused: boolean) => void
}

/** The state of live updates as a word and a symbol, and a button that pauses live updates. */
export function LiveStatus(props: Props): ReactElement {
  const { t } = useTranslation()
  const state = useLiveState()
  return (
    <div className="tg-log-live">
      <LiveDot
        kind={kindOf(state, props)}
        retryAt={state.kind === 'reconnecting' ? state.retryAt : undefined}
      />
      {state.kind === 'reconnecting' ? (
        <Button
          tone="quiet"
          icon="refresh"
          label={t('words.reconnectNow')}
          onClick={() => liveStream().retryNow()}
        />
      ) : (
        <Button
          tone="quiet"
          icon={props.isPaused ? 'play' : 'pause'}
          label={props.isPaused ? t('usageLog.resume') : t('usageLog.pause')}
          isPressed={props.isPaused}
          onClick={() => props.onPause(!props.isPaused)}
        />
      )}
    </div>
  )
}

function kindOf(state: LiveState, { isPaused, isHeld, isPast }: Props): LiveKind {
  if (state.kind !== 'live') return state.kind
  if (isPast) return 'past'
  if (isPaused) return 'paused'
  return isHeld ? 'held' : 'live'
}
