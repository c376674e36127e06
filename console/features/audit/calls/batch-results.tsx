import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isAuditor, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { BatchResult, CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota, Hash } from '../elements/amounts-and-hashes.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { indented } from './call-charge-usage-and-price-panels.tsx'

/**
 * The number of results that are shown initially. A button shows the others. Without this limit,
 * the panels below would be far down the page.
 */
const INITIAL_RESULTS_MAX = 10

/**
 * Shows the results of the billed requests in a batch. The charge of the call covers all of these
 * requests, but the server lists only the first results.
 */
export function BatchResults({ call: { batch } }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const [showsAll, setShowsAll] = useState(false)
  if (batch?.results === undefined || batch.billed_lines === 0) return null
  const { results } = batch
  const hidden = showsAll ? 0 : Math.max(0, results.length - INITIAL_RESULTS_MAX)
  const showAll = (): void => setShowsAll(true)
  return (
    <Panel title={t('audit.call.results')} lead={t('audit.call.resultsLead')}>
      {results.length > 0 && (
        <ResultTable all={results} shown={results.slice(0, results.length - hidden)} />
      )}
      {hidden > 0 && (
        <Button size="small" className="tg-audit-more-results" onClick={showAll}>
          {t('audit.call.moreResults', { count: hidden })}
        </Button>
      )}
      {batch.billed_lines > results.length && <NotListed batch={batch} results={results} />}
    </Panel>
  )
}

/**
 * Shows results in a table. The columns depend on all results, so that they do not change when more
 * rows are shown.
 */
function ResultTable(props: { all: readonly BatchResult[]; shown: readonly BatchResult[] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const isAnySet = (name: 'model' | 'request_id') =>
    props.all.some(({ evidence }) => evidence?.[name] !== undefined)
  const [hasModels, hasRequestIds] = [isAnySet('model'), isAnySet('request_id')]
  return (
    <ColumnTable
      label={t('audit.call.results')}
      rows={props.shown}
      rowKey={({ line }) => String(line)}
      columns={[
        // `line` starts at 0, but lines of a file are numbered from 1.
        [t('audit.call.line'), ({ line }) => number.format(line + 1)],
        [{ end: t('audit.call.charge') }, ({ charge }) => <ExactQuota value={charge} />],
        hasModels && [t('audit.call.servedModel'), (result) => <ServedModel result={result} />],
        hasRequestIds && [
          t('audit.call.providerRequest'),
          ({ evidence }) => <HashOrDash value={evidence?.request_id} />,
        ],
        [
          t('audit.call.resultDigest'),
          ({ evidence }) => <HashOrDash value={evidence?.received?.sha256} />,
        ],
        [t('shared.usage'), ({ usage }) => <ReportedUsage usage={usage} />],
      ]}
    />
  )
}

const Dash = () => <span className="tg-muted">–</span>

const HashOrDash = ({ value }: { value: string | undefined }) =>
  value === undefined ? <Dash /> : <Hash value={value} />

function ServedModel({ result }: { result: BatchResult }) {
  const { t } = useTranslation()
  return (
    <span className="tg-audit-hash">
      {result.evidence?.model ?? <Dash />}
      {result.is_other_model === true && (
        <StatusTag tone="bad">{t('audit.call.isOtherModel')}</StatusTag>
      )}
    </span>
  )
}

function ReportedUsage({ usage }: { usage: string | null }) {
  const { t } = useTranslation()
  if (usage === null) return <Dash />
  return (
    <details className="tg-audit-usage">
      <summary>{t('shared.details')}</summary>
      <pre>{indented(usage)}</pre>
    </details>
  )
}

/**
 * Shows how many of the billed results the server has listed. For auditors, a link opens the events
 * of the batch, which contain all results. The page of events starts at the event of the first
 * listed result.
 */
function NotListed(props: {
  batch: NonNullable<CallExplanation['batch']>
  results: readonly BatchResult[]
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { id, billed_lines: billed } = props.batch
  const position = props.results[0]?.position ?? 0
  const events = new URLSearchParams({ stream: `batch-${id}`, position: String(position) })
  return (
    <p className="tg-hint tg-audit-not-listed">
      {t('audit.call.resultsListed', {
        ...{ listed: number.format(props.results.length), billed: number.format(billed) },
      })}{' '}
      {isAuditor(useUser()) && (
        <Link to={`/app/audit/events?${events}`}>{t('audit.call.resultsInEvents')}</Link>
      )}
    </p>
  )
}
