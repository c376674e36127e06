import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { LiveMark } from '#console/ui/elements/live-indicator.tsx'

type Props = {
  isPaused: boolean
  /** True while the user reads the list, during which new rows are not inserted. */
  isHeld: boolean
  /** True if no new row can appear, because the range has ended or this is not the first page. */
  isPast: boolean
  onPause: (isPaused: boolean) => void
}

/** The state of live updates as a word and a symbol, and a button that pauses live updates. */
export function LiveStatus({ isPaused, isHeld, isPast, onPause }: Props) {
  const { t } = useTranslation()
  const kind = isPast ? 'past' : isPaused ? 'paused' : isHeld ? 'held' : 'live'
  return (
    <div className="tg-log-live">
      <LiveMark kind={kind}>
        <Button
          tone="quiet"
          icon={isPaused ? 'play' : 'pause'}
          label={isPaused ? t('usageLog.resume') : t('usageLog.pause')}
          isPressed={isPaused}
          onClick={() => onPause(!isPaused)}
        />
      </LiveMark>
    </div>
  )
}
