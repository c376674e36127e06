import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { Button } from '#console/ui/button.tsx'
import { LiveDot } from '#console/ui/live-dot.tsx'

/** Whether what is shown renews itself just now, and another try where it doesn't. */
export function LiveMark(): ReactElement {
  const { t } = useTranslation()
  const state = useLiveState()
  const isReconnecting = state.kind === 'reconnecting'
  return (
    <>
      <LiveDot kind={state.kind} retryAt={isReconnecting ? state.retryAt : undefined} />
      {isReconnecting && (
        <Button
          tone="quiet"
          icon="refresh"
          label={t('ui.reconnectNow')}
          onClick={() => liveStream().retryNow()}
        />
      )}
    </>
  )
}
