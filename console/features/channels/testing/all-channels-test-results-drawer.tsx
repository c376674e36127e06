import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { testProgressQuery } from '#console/api/channels.ts'
import { apiQuery } from '#console/api/client.ts'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { absoluteTimeText } from '#console/ui/elements/time-text.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { TestProgress, TestResults } from '#read-api/contract/channel-actions.ts'
import { ResponseTime } from '../list/channel-cells.tsx'

type Result = TestResults['results'][number]

export function AllChannelsTestResultsDrawer(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Drawer isOpen={props.isOpen} onClose={props.onClose} title={t('channelTests.resultsTitle')}>
      {props.isOpen && <Results onLeave={props.onClose} />}
    </Drawer>
  )
}

function Results(props: { onLeave: () => void }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const isLive = useLiveState().kind === 'live'
  const progress = useQuery(testProgressQuery(isLive)).data
  const { data, error, refetch } = useQuery({
    ...testResultsQuery(progress),
    enabled: progress !== undefined,
  })
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data === undefined || progress === undefined) return null
  if (data.results.length === 0) {
    return (
      <EmptyState
        icon="zap"
        title={t('channelTests.resultsNone')}
        body={t('channelTests.resultsNoneBody')}
      />
    )
  }
  const { tested, total, failed, started_time } = progress
  const time = absoluteTimeText(started_time, locale)
  const hasFailed = ({ reason }: Result) => reason !== ''
  return (
    <>
      <p className="tg-hint">{t('channelTests.resultsAt', { time, tested, total, failed })}</p>
      <ResultSection name="resultsFailed" results={data.results.filter(hasFailed)} {...props} />
      <ResultSection
        name="resultsPassed"
        results={data.results.filter((result) => !hasFailed(result))}
        {...props}
      />
    </>
  )
}

function ResultSection(props: {
  name: 'resultsFailed' | 'resultsPassed'
  results: readonly Result[]
  onLeave: () => void
}) {
  const { t } = useTranslation()
  const { results } = props
  if (results.length === 0) return null
  return (
    <section className="tg-results-part">
      <h3>{t(`channelTests.${props.name}`, { count: results.length })}</h3>
      <ul>
        {results.map((result) => (
          <li key={result.id}>
            <span className="tg-results-name">
              <Link to={`/channel/edit/${result.id}`} onClick={props.onLeave}>
                {result.name}
              </Link>
              <span className="tg-quiet">{result.model}</span>
            </span>
            <Outcome result={result} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Outcome({ result }: { result: Result }) {
  const { t } = useTranslation()
  const { reason, duration } = result
  if (reason === '') return <ResponseTime milliseconds={Math.max(1, duration)} isShort />
  const seconds = t('channels.seconds', { seconds: (duration / 1000).toFixed(2) })
  return (
    <span className="tg-results-failure">
      <StatusTag tone="bad">{reasonText(t, reason)}</StatusTag>
      <span className="tg-quiet">{seconds}</span>
    </span>
  )
}

const testResultsQuery = (progress: TestProgress | undefined) => {
  const key = ['channel-test-results', progress?.run, progress?.tested]
  return {
    ...apiQuery('GET /api/channel/test/results', undefined, key),
    placeholderData: keepPreviousData,
    staleTime: 0,
  }
}
