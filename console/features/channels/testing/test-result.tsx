import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { TestOutcome } from '#console/api/channels/test-channel.ts'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { ResponseTime } from '../list/channel-cells.tsx'

/** What came of one test: how long it took, or why it failed. */
export function TestResult(props: { result: TestOutcome | 'running' | undefined }): ReactElement {
  const { result } = props
  const { t } = useTranslation()
  return (
    <output className="tg-test-result">
      {result === 'running' && <span className="tg-quiet">{t('channelTests.running')}</span>}
      {result !== undefined &&
        result !== 'running' &&
        (result.isSuccess ? (
          <ResponseTime milliseconds={Math.max(1, Math.round(result.seconds * 1000))} />
        ) : (
          <>
            <StatusTag tone="bad">{t('channelTests.failed')}</StatusTag>
            <span className="tg-test-reason" title={result.message}>
              {result.message}
            </span>
          </>
        ))}
    </output>
  )
}
