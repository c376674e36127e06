import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { liveStream } from '#console/api/live/browser-live.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { Button } from '#console/ui/button.tsx'
import { LiveDot } from '#console/ui/live-dot.tsx'

/** Whether the numbers renew themselves just now, and another try where they don't. */
export function LiveMark(): ReactElement {
  const { t } = useTranslation()
  const state = useLiveState()
  return (
    <>
      <LiveDot
        kind={state.kind}
        retryAt={state.kind === 'reconnecting' ? state.retryAt : undefined}
      />
      {state.kind === 'reconnecting' && (
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
