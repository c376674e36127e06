import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live.ts'
import type { LiveState } from '#console/api/live/live-event.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { Button } from '#console/ui/button.tsx'

type Props = {
  isPaused: boolean
  /** The reader is on something: new rows wait. */
  isHeld: boolean
  /** The range lies in the past, or another page than the first is open: nothing arrives. */
  isPast: boolean
  onPause: (isPaused: boolean) => void
}

/** Whether rows arrive by themselves, in a word and a mark; and the pause. */
export function LiveStatus(props: Props): ReactElement {
  const { t } = useTranslation()
  const state = useLiveState()
  const seconds = useSecondsUntil(state.kind === 'reconnecting' ? state.retryAt : null)
  const kind = kindOf(state, props)
  return (
    <div className="tg-log-live">
      <output className={`tg-log-dot tg-log-dot-${kind}`}>
        {t(`usageLog.live.${kind}`, { seconds })}
      </output>
      {state.kind === 'reconnecting' ? (
        <Button
          tone="quiet"
          icon="refresh"
          label={t('usageLog.retryNow')}
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

type Kind = LiveState['kind'] | 'held' | 'paused' | 'past'

function kindOf(state: LiveState, { isPaused, isHeld, isPast }: Props): Kind {
  if (state.kind !== 'live') return state.kind
  if (isPast) return 'past'
  if (isPaused) return 'paused'
  return isHeld ? 'held' : 'live'
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
