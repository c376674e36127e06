import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { channelsKey, type TestOutcome, testChannel } from '#console/api/channels.ts'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { useAbortOnUnmount } from '#console/ui/state/use-abort-on-unmount.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { parseNames } from '../form/channel-draft.ts'
import { ResponseTime } from '../list/channel-cells.tsx'
import { type ModelTestResults, runConcurrently, withResult } from './run-model-tests.ts'

function useModelTests(channelId: number) {
  const client = useQueryClient()
  const [results, setResults] = useState<ModelTestResults>(new Map())
  const [isRunningAll, setRunningAll] = useState(false)
  const stop = useAbortOnUnmount()
  const testOne = async (model: string) => {
    const { signal } = stop.current
    if (results.get(model) === 'running') return
    setResults((now) => withResult(now, model, 'running'))
    const outcome = await testChannel(channelId, model, signal)
    if (signal.aborted) return
    setResults((now) => withResult(now, model, outcome))
    await client.invalidateQueries({ queryKey: channelsKey })
  }
  const testAll = async (models: readonly string[]) => {
    if (isRunningAll) return
    setRunningAll(true)
    await runConcurrently(models, testOne, stop.current.signal)
    setRunningAll(false)
  }
  return { results, isRunningAll, testOne, testAll }
}

export function ChannelTestDialog(props: { channel: Channel | null; onClose: () => void }) {
  const { t } = useTranslation()
  const { isOpen, lastItem } = useDialogItem(props.channel)
  return (
    <Dialog
      isOpen={isOpen}
      title={t('channelTests.title', { name: lastItem?.name ?? '' })}
      className="tg-picker"
      onClose={props.onClose}
    >
      {lastItem !== null && <ModelTests channel={lastItem} onClose={props.onClose} />}
    </Dialog>
  )
}

function ModelTests(props: { channel: Channel; onClose: () => void }) {
  const { channel } = props
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const tests = useModelTests(channel.id)
  const models = parseNames(channel.models)
  const found = foundModels(models, search)
  const first = channel.test_model || models[0]
  return (
    <>
      <p className="tg-hint">{t('channelTests.lead')}</p>
      <SearchInput label={t('shared.searchModels')} value={search} onChange={setSearch} />
      <ul className="tg-picker-list">
        {found.map((model) => (
          <li key={model}>
            <span className="tg-test-model" title={model}>
              {model}
              {model === first && <span className="tg-more-count"> {t('shared.default')}</span>}
            </span>
            <TestResult result={tests.results.get(model)} />
            <Button
              size="small"
              isBusy={tests.results.get(model) === 'running'}
              label={t('channelTests.testModel', { model })}
              onClick={() => void tests.testOne(model)}
            >
              {t('shared.test')}
            </Button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="tg-hint">{t('ui.noModelMatches')}</p>}
      <div className="tg-dialog-foot">
        <Button onClick={props.onClose}>{t('ui.close')}</Button>
        <Button
          tone="primary"
          icon="zap"
          isBusy={tests.isRunningAll}
          isDisabled={found.length === 0}
          onClick={() => void tests.testAll(found)}
        >
          {t('channelTests.testFound', { count: found.length })}
        </Button>
      </div>
    </>
  )
}

function TestResult(props: { result: TestOutcome | 'running' | undefined }) {
  const { result } = props
  const { t } = useTranslation()
  return (
    <output className="tg-test-result">
      {result === 'running' && <span className="tg-quiet">{t('shared.testing')}</span>}
      {result !== undefined &&
        result !== 'running' &&
        (result.isSuccess ? (
          <ResponseTime milliseconds={Math.max(1, Math.round(result.seconds * 1000))} />
        ) : (
          <>
            <StatusTag tone="bad">{t('shared.failed')}</StatusTag>
            <span className="tg-test-reason" title={result.message}>
              {result.message}
            </span>
          </>
        ))}
    </output>
  )
}

function foundModels(models: readonly string[], search: string): string[] {
  const needle = search.trim().toLowerCase()
  return models.filter((model) => model.toLowerCase().includes(needle))
}
