import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { channelsKey } from '#console/api/channels/list-channels.ts'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icons.tsx'
import type { TestProgress } from '#read-api/contract/channel-action.ts'
import { useTestProgress } from './use-test-progress.ts'

/** How far a test of all channels is, while one runs; then what came of it, until dismissed. */
export function TestProgressBar(props: { onResults: () => void }): ReactElement | null {
  const { t } = useTranslation()
  const client = useQueryClient()
  const progress = useTestProgress()
  const watched = useRef('')
  const [told, setTold] = useState('')
  useEffect(() => {
    if (progress === undefined) return
    if (progress.is_running) watched.current = progress.run
    else if (watched.current !== '' && watched.current === progress.run) {
      watched.current = ''
      setTold(progress.run)
      void client.invalidateQueries({ queryKey: channelsKey })
    }
  }, [progress, client])
  if (progress === undefined) return null
  if (progress.is_running) {
    const { tested, total, failed } = progress
    return (
      <div className="tg-test-progress">
        <span>{t('channelTests.progress', { tested, total, failed })}</span>
        <progress aria-label={t('channelTests.progressLabel')} value={tested} max={total || 1} />
      </div>
    )
  }
  if (told === '' || told !== progress.run) return null
  return <Ended progress={progress} onResults={props.onResults} onDismiss={() => setTold('')} />
}

function Ended(props: {
  progress: TestProgress
  onResults: () => void
  onDismiss: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { tested, failed } = props.progress
  const tone = failed > 0 ? 'tg-test-ended-bad' : 'tg-test-ended-good'
  return (
    <div className={`tg-test-progress ${tone}`}>
      <Icon name={failed > 0 ? 'alert' : 'check'} />
      <span role="status">{t('channelTests.allDone', { tested, failed })}</span>
      <Button size="small" onClick={props.onResults}>
        {t('channelTests.showResults')}
      </Button>
      <Button
        tone="quiet"
        size="small"
        icon="close"
        label={t('channelTests.dismiss')}
        onClick={props.onDismiss}
      />
    </div>
  )
}
