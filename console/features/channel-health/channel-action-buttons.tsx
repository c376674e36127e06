import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'react-router-dom'
import { healthKey } from '#console/api/channel-health.ts'
import { type TestOutcome, testChannel } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { showError, showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import { useAbortOnUnmount } from '#console/ui/state/use-abort-on-unmount.ts'
import type { ChannelHealth } from '#read-api/contract/channel-health.ts'
import { failedCallsLink, type Period } from './channel-health-filters.ts'
import { durationText } from './format-durations-and-rates.ts'

export function ChannelHealthActions(props: { channel: ChannelHealth; period: Period }) {
  const { t } = useTranslation()
  const { channel, period } = props
  const { pathname, search } = useLocation()
  const test = useTest(channel.id)
  return (
    <div className="tg-health-actions">
      <div className="tg-actions">
        <Button icon="zap" isBusy={test.isRunning} onClick={() => void test.run()}>
          {t('shared.test')}
        </Button>
        <ButtonLink
          to={`/channel/edit/${channel.id}`}
          icon="edit"
          state={{ returnTo: pathname + search }}
        >
          {t('ui.editRow')}
        </ButtonLink>
        {channel.circuits.length > 0 && <CloseCircuits channel={channel} />}
        <ButtonLink to={failedCallsLink(channel.id, period)} icon="list">
          {t('health.actions.failedCalls')}
        </ButtonLink>
      </div>
      <output>
        {test.isRunning && <span className="tg-muted">{t('shared.testing')}</span>}
        {test.outcome !== null && <TestText outcome={test.outcome} />}
      </output>
    </div>
  )
}

function TestText({ outcome }: { outcome: TestOutcome }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  if (outcome.isSuccess) {
    const duration = durationText(outcome.seconds * 1_000, number)
    return <StatusTag tone="good">{t('health.actions.passed', { duration })}</StatusTag>
  }
  return (
    <span className="tg-health-test-failure">
      {t('shared.testFailed', { reason: outcome.message })}
    </span>
  )
}

function useTest(channelId: number) {
  const client = useQueryClient()
  const [state, setState] = useState({ isRunning: false, outcome: null as TestOutcome | null })
  const stop = useAbortOnUnmount()
  const run = async (): Promise<void> => {
    const { signal } = stop.current
    if (state.isRunning) return
    setState({ isRunning: true, outcome: null })
    try {
      const outcome = await testChannel(channelId, '', signal)
      if (!signal.aborted) setState({ isRunning: false, outcome })
    } catch (error) {
      setState({ isRunning: false, outcome: null })
      showError(error)
    }
    await client.invalidateQueries({ queryKey: healthKey })
  }
  return { ...state, run }
}

function CloseCircuits({ channel }: { channel: ChannelHealth }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { isBusy, submit } = useSubmit(async () => {
    const closing = call('POST /api/channel/:id/circuit/close', { params: { id: channel.id } })
    const count = await closing.finally(() => client.invalidateQueries({ queryKey: healthKey }))
    if (count === 0) showInfo(t('health.actions.closedAlready'))
    else showSuccess(t('health.actions.closed', { count }))
  })
  return (
    <Button icon="refresh" isBusy={isBusy} onClick={() => void submit()}>
      {t('health.actions.close', { count: channel.circuits.length })}
    </Button>
  )
}
