import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useParams } from 'react-router-dom'
import { retryUnlessMissing } from '#console/api/api-error.ts'
import { apiQuery } from '#console/api/client.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { failureName } from '#console/api/usage-log-queries.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { findRequestId } from '#console/ui/elements/find-request-id.ts'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota } from '../elements/amounts-and-hashes.tsx'
import { ObjectFallback } from '../elements/object-fallback.tsx'
import { Facts } from '../elements/small-tables.tsx'
import { BatchResults } from './batch-results.tsx'
import { CallAttempts } from './call-attempts.tsx'
import {
  CallChargePanel,
  CallUsagePanel,
  PricesInForce,
} from './call-charge-usage-and-price-panels.tsx'
import { CallCorrections, CallHistory, CallReceipts } from './call-history-and-receipts.tsx'
import { ProviderModelAndCostMismatches } from './provider-model-and-cost-mismatches.tsx'
import '../audit.css'

/**
 * Explains the call whose request id is in the URL. Without an id in the URL, the page asks for a
 * request id. In that case, auditors also see the calls whose answer names a model other than the
 * one in the request to the provider, and the calls for which the provider reported much more than
 * the expected cost.
 */
export function CallPage() {
  const { t } = useTranslation()
  const { requestId = '' } = useParams()
  const isAudit = isAuditor(useUser())
  const navigate = useNavigate()
  const open = (text: string): void => {
    const id = findRequestId(text) ?? text
    if (id !== '') void navigate(`/app/calls/${encodeURIComponent(id)}`)
  }
  const search = <FilterInput label={t('shared.requestId')} value={requestId} onCommit={open} />
  return (
    <Page
      title={t('shell.calls')}
      lead={t('audit.call.lead')}
      actions={<search className="tg-audit-search">{search}</search>}
    >
      {requestId === '' ? (
        <>
          <Panel>
            <EmptyState
              icon="search"
              title={t('audit.call.find')}
              body={t('audit.call.findLead')}
            />
          </Panel>
          {isAudit && <ProviderModelAndCostMismatches />}
        </>
      ) : (
        <Explanation key={requestId} requestId={requestId} />
      )}
    </Page>
  )
}

function Explanation({ requestId }: { requestId: string }) {
  const { t } = useTranslation()
  const {
    data: call,
    error,
    refetch,
  } = useQuery({
    ...apiQuery('GET /api/audit/calls/:requestId', { params: { requestId } }),
    retry: retryUnlessMissing,
  })
  if (call !== undefined) return <ExplainedCall call={call} />
  return (
    <Panel>
      <ObjectFallback
        error={error}
        onRetry={() => void refetch()}
        missing={{ title: t('audit.call.notFound'), body: t('audit.call.notFoundLead') }}
      />
    </Panel>
  )
}

function ExplainedCall({ call }: { call: CallExplanation }) {
  return (
    <>
      <CallSummary call={call} />
      <CallHistory call={call} />
      <CallCorrections call={call} />
      <CallAttempts call={call} />
      <div className="tg-columns tg-audit-columns">
        <CallChargePanel call={call} />
        <CallUsagePanel call={call} />
      </div>
      <BatchResults call={call} />
      <PricesInForce call={call} />
      <CallReceipts requestId={call.request_id} />
    </>
  )
}

const TONES: Readonly<Record<CallExplanation['status'], Tone>> = {
  open: 'info',
  settled: 'good',
  released: 'warn',
  interrupted: 'bad',
}

function CallSummary({ call }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const isAudit = isAuditor(useUser())
  const { end, requested } = call
  const isCorrected = call.corrections !== undefined && call.corrections.length > 0
  const logLink = `/app/logs/api-usage?${new URLSearchParams({ request: call.request_id })}`
  const ownedBy = `${call.username || `#${call.user_id}`} (#${call.user_id})`
  const heading = (
    <span className="tg-audit-title">
      <code>{call.request_id}</code>
      <CopyButton text={call.request_id} label={t('shared.copyRequestId')} />
      <StatusTag tone={TONES[call.status]}>{t(`audit.call.status.${call.status}`)}</StatusTag>
      {isCorrected && <StatusTag tone="info">{t('audit.call.isCorrected')}</StatusTag>}
    </span>
  )
  return (
    <Panel
      title={heading}
      actions={
        // Auditors may not read the usage log of other users.
        call.links.log !== null && <ButtonLink to={logLink}>{t('audit.call.toLog')}</ButtonLink>
      }
    >
      <Facts
        facts={[
          [t('shared.time'), stamp(call.admission?.created_at ?? end?.created_at ?? 0)],
          [
            t('shared.user'),
            isAudit && <Link to={`/app/audit/ledgers/${call.user_id}`}>{ownedBy}</Link>,
          ],
          [t('shared.token'), call.token_name || `#${call.token_id}`],
          [t('ui.model'), call.model],
          [t('audit.call.upstreamModel'), call.upstream_model],
          [t('ui.groupName'), call.group],
          [t('audit.call.requested'), requested && `${requested.model} · ${requested.group}`],
          [t('audit.call.formats'), call.formats.join(' → ')],
          [t('shared.mode'), t(call.is_stream ? 'usageLog.stream' : 'usageLog.notStreamed')],
          [t('audit.call.charge'), end !== null && <ExactQuota value={end.charge} />],
          [
            t('audit.call.inForce'),
            isCorrected && <ExactQuota value={call.charge_in_force ?? null} />,
          ],
          [t('audit.call.cost'), call.cost !== null && <ProviderCost call={call} />],
          [t('audit.call.ended'), end !== null && <EndReason end={end} />],
          [t('shared.duration'), end !== null && <Durations end={end} />],
          [t('audit.call.batch'), call.batch && batchText(call.batch)],
          [t('audit.call.task'), call.task && <Task task={call.task} />],
        ]}
      />
    </Panel>
  )
}

/** Shows the id and the status of a task. An unknown status is shown as the server sends it. */
function Task({ task: { id, status } }: { task: NonNullable<CallExplanation['task']> }) {
  const { t } = useTranslation()
  const text = t(`shared.taskStatus.${status as TaskStatus}`, { defaultValue: status })
  return (
    <>
      {id} · {text}
    </>
  )
}

type TaskStatus = keyof Translations['shared']['taskStatus']

const batchText = (batch: NonNullable<CallExplanation['batch']>): string =>
  `${batch.id} · ${batch.billed_lines}/${batch.lines}`

type End = NonNullable<CallExplanation['end']>

function EndReason({ end }: { end: End }) {
  const { t } = useTranslation()
  const code = [end.error_code, end.status_code].filter((part) => part !== null).join(' · ')
  const name = end.reason === 'done' ? 'done' : failureName(end.reason)
  return (
    <>
      {name === null ? end.reason : t(`usageLog.end.${name}`)}
      {code !== '' && <code className="tg-audit-code">{code}</code>}
    </>
  )
}

function Durations({ end }: { end: End }) {
  const { t } = useTranslation()
  const number = useNumberFormat({ maximumFractionDigits: 2 })
  if (end.duration_ms === null) return <>{t('audit.unknown')}</>
  const seconds = (ms: number) => t('audit.seconds', { value: number.format(ms / 1000) })
  const first = end.first_byte_ms
  return (
    <>
      {seconds(end.duration_ms)}
      {first !== null && ` · ${t('audit.call.firstByte', { time: seconds(first) })}`}
    </>
  )
}

function ProviderCost({ call }: { call: CallExplanation }) {
  return (
    <>
      <ExactQuota value={call.cost} />
      {call.cost_ratio !== null && ` (× ${call.cost_ratio})`}
    </>
  )
}
