import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { channelsKey } from '#console/api/channels/list-channels.ts'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import { useTestProgress } from './use-test-progress.ts'

/** How far a test of all channels is, while one runs; then what came of it, once. */
export function TestProgressBar(): ReactElement | null {
  const { t } = useTranslation()
  const client = useQueryClient()
  const progress = useTestProgress()
  const watched = useRef('')
  useEffect(() => {
    if (progress === undefined) return
    if (progress.is_running) watched.current = progress.run
    else if (watched.current !== '' && watched.current === progress.run) {
      watched.current = ''
      const { tested: count, failed } = progress
      const tell = failed > 0 ? showInfo : showSuccess
      tell(t('channelTests.allDone', { tested: count, failed }))
      void client.invalidateQueries({ queryKey: channelsKey })
    }
  }, [progress, client, t])
  if (progress?.is_running !== true) return null
  const { tested, total, failed } = progress
  return (
    <div className="tg-test-progress">
      <span>{t('channelTests.progress', { tested, total, failed })}</span>
      <progress aria-label={t('channelTests.progressLabel')} value={tested} max={total || 1} />
    </div>
  )
}
