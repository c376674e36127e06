import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { channelsKey, testProgressKey, testProgressQuery } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { useLiveState, useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import type { ChannelCheckResult, TestProgress } from '#read-api/contract/channel-actions.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { changeChannels } from '../list/channel-rows.ts'

function useTestProgress(): TestProgress | undefined {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const refetch = (): void => void client.invalidateQueries({ queryKey: testProgressKey })
  useLiveTopic('tests', {
    onEvents: (pushes) => {
      const run = pushes.findLast((push) => push.run !== null)?.run
      if (run != null) void setProgress(client, run)
      const found = new Map(pushes.flatMap(({ channels }) => channels.map((one) => [one.id, one])))
      changeChannels(client, (channel) => withCheckResult(channel, found.get(channel.id)))
    },
    onResync: refetch,
  })
  useEffect(() => {
    if (isLive) void client.invalidateQueries({ queryKey: testProgressKey })
  }, [isLive, client])
  return useQuery(testProgressQuery(isLive)).data
}

/**
 * Writes the latest progress of the channel tests to the query cache. First cancels any pending
 * request for the progress, because the response would overwrite the cache with older progress.
 */
async function setProgress(client: QueryClient, progress: TestProgress): Promise<void> {
  await client.cancelQueries({ queryKey: testProgressKey })
  client.setQueryData<TestProgress>(testProgressKey, progress)
}

function withCheckResult(channel: Channel, found: ChannelCheckResult | undefined): Channel {
  if (found === undefined) return channel
  const { response_time, test_time, balance, balance_updated_time, reason } = found
  const figures = { response_time, test_time, balance, balance_updated_time }
  return { ...channel, ...figures, test_failure: reason }
}

export function useTestAllChannels(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    try {
      await setProgress(client, await call('GET /api/channel/test'))
    } catch (error) {
      showError(error)
      await client.invalidateQueries({ queryKey: testProgressKey })
    }
  }
}

export function ChannelTestProgressBar(props: { onResults: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const progress = useTestProgress()
  const watched = useRef('')
  const [announcedRun, setAnnouncedRun] = useState('')
  useEffect(() => {
    if (progress === undefined) return
    if (progress.is_running) watched.current = progress.run
    else if (watched.current !== '' && watched.current === progress.run) {
      watched.current = ''
      setAnnouncedRun(progress.run)
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
  if (announcedRun === '' || announcedRun !== progress.run) return null
  return (
    <TestsDone
      progress={progress}
      onResults={props.onResults}
      onDismiss={() => setAnnouncedRun('')}
    />
  )
}

function TestsDone(props: {
  progress: TestProgress
  onResults: () => void
  onDismiss: () => void
}) {
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
