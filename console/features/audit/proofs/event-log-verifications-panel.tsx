import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { AuditFinding, Verification } from '#read-api/contract/verifications.ts'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import { ColumnTable, Facts } from '../elements/small-tables.tsx'
import { userText } from '../elements/user-names.ts'
import { isUnfinished, JOB_TONES, JobProgress, pollWhile } from './job-progress.tsx'
import { FindingDetail, FindingPlace, FindingPosition } from './verification-finding-cells.tsx'

const KEY = ['audit', 'verifications'] as const

/**
 * Starts verifications of the event log, and shows the verification with the given `id`. An empty
 * `id` selects the newest verification.
 */
export function VerificationsPanel(props: { id: string; onSelect: (id: string) => void }) {
  const { t } = useTranslation()
  const query = useQuery({
    // The details of findings are in the language of the request.
    ...apiQuery('GET /api/audit/verifications', undefined, [...KEY, currentLanguage()]),
    placeholderData: keepPreviousData,
    refetchInterval: pollWhile(isUnfinished),
  })
  return (
    <Panel
      title={t('audit.verify.title')}
      lead={t('audit.verify.lead')}
      actions={
        <StartButtons isRunning={query.data?.items.some(isUnfinished) === true} {...props} />
      }
    >
      <QueryView query={query} height={280}>
        {({ items }) => {
          const selected = items.find(({ id }) => id === props.id) ?? items[0]
          if (selected === undefined) {
            return (
              <EmptyState
                icon="check"
                title={t('audit.verify.none')}
                body={t('audit.verify.noneLead')}
              />
            )
          }
          return (
            <>
              <VerificationDetails verification={selected} />
              <PastVerifications items={items} selected={selected.id} onSelect={props.onSelect} />
            </>
          )
        }}
      </QueryView>
    </Panel>
  )
}

function StartButtons(props: { isRunning: boolean; onSelect: (id: string) => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { isBusy, submit } = useSubmit(async (mode: 'incremental' | 'full') => {
    const { id } = await call('POST /api/audit/verifications', { body: { mode } })
    await client.invalidateQueries({ queryKey: KEY })
    props.onSelect(id)
  })
  const isDisabled = isBusy || props.isRunning
  return (
    <>
      <Button isDisabled={isDisabled} onClick={() => submit('incremental')}>
        {t('audit.verify.incremental')}
      </Button>
      <Button tone="primary" isDisabled={isDisabled} onClick={() => submit('full')}>
        {t('audit.verify.full')}
      </Button>
    </>
  )
}

function VerificationDetails({ verification }: { verification: Verification }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { status, finding_count: count, checks, root } = verification
  const events = Math.max(0, verification.to_position - verification.from_position)
  if (status !== 'finished') return <JobProgress job={verification} />
  return (
    <>
      <p className={count === 0 ? 'tg-proofs-verdict' : 'tg-proofs-verdict tg-proofs-bad'}>
        <Icon name={count === 0 ? 'check' : 'alert'} size={20} />
        {count === 0
          ? t('audit.verify.clean', { count: events, events: number.format(events) })
          : t('audit.verify.findings', { count, number: number.format(count) })}
      </p>
      <Facts
        facts={[
          [
            t('audit.verify.range'),
            `#${verification.from_position + 1} – #${verification.to_position}`,
          ],
          [t('audit.verify.requestedBy'), requesterText(t, verification)],
          [t('shared.finishedAt'), verification.finished_at && stamp(verification.finished_at)],
          [t('audit.verify.treeSize'), root !== null && number.format(verification.tree_size)],
          [t('audit.verify.root'), root !== null && <Hash value={root} />],
        ]}
      />
      <FindingTables verification={verification} />
      <h3 className="tg-proofs-heading">{t('audit.verify.checks')}</h3>
      <ColumnTable
        label={t('audit.verify.checks')}
        isShort
        rows={checks}
        rowKey={({ check }) => check}
        isBad={({ findings }) => findings > 0}
        columns={[
          [t('audit.verify.check'), ({ check }) => t(`audit.check.${check}`)],
          [{ end: t('audit.verify.times') }, ({ count: times }) => number.format(times)],
          [{ end: t('audit.verify.found') }, ({ findings }) => number.format(findings)],
        ]}
      />
    </>
  )
}

/**
 * Returns the color for a verification. A verification with findings has the same color as a failed
 * one, because the event log is not intact.
 */
const toneOf = ({ status, finding_count: count }: Verification): Tone =>
  count > 0 ? 'bad' : JOB_TONES[status]

const requesterText = (
  t: TFunction,
  { requested_by: id, requested_by_name: name }: Verification,
): string => (id === null ? t('audit.verify.nightly') : userText(t, id, name))

function FindingTables({ verification }: { verification: Verification }) {
  const { t } = useTranslation()
  const { findings, finding_count: count } = verification
  const counted = findings.filter((finding) => !finding.is_acknowledged)
  const acknowledged = findings.filter((finding) => finding.is_acknowledged)
  return (
    <>
      {counted.length > 0 && (
        <Findings
          title={t('audit.verify.firstFindings', { shown: counted.length, all: count })}
          label={t('audit.verify.found')}
          findings={counted}
        />
      )}
      {acknowledged.length > 0 && (
        <Findings
          title={t('audit.verify.acknowledged')}
          label={t('audit.verify.acknowledged')}
          findings={acknowledged}
        />
      )}
    </>
  )
}

function Findings(props: { title: string; label: string; findings: readonly AuditFinding[] }) {
  const { t } = useTranslation()
  return (
    <>
      <h3 className="tg-proofs-heading">{props.title}</h3>
      <ColumnTable
        label={props.label}
        rows={props.findings}
        rowKey={(_, index) => String(index)}
        columns={[
          [t('audit.verify.check'), ({ check }) => t(`audit.check.${check}`)],
          [t('audit.position'), ({ position }) => <FindingPosition position={position} />],
          [t('audit.verify.stream'), (finding) => <FindingPlace finding={finding} />],
          [t('audit.verify.detail'), ({ parts }) => <FindingDetail parts={parts} />],
        ]}
      />
    </>
  )
}

function PastVerifications(props: {
  items: readonly Verification[]
  selected: string
  onSelect: (id: string) => void
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  if (props.items.length < 2) return null
  return (
    <>
      <h3 className="tg-proofs-heading">{t('audit.verify.past')}</h3>
      <ColumnTable
        label={t('audit.verify.past')}
        rows={props.items}
        rowKey={({ id }) => id}
        columns={[
          [
            t('shared.time'),
            ({ id, requested_at: at }) => (
              <button
                type="button"
                className="tg-audit-link"
                aria-current={id === props.selected}
                onClick={() => props.onSelect(id)}
              >
                {stamp(at)}
              </button>
            ),
          ],
          [t('shared.mode'), ({ mode }) => t(`audit.verify.${mode}`)],
          [
            t('audit.verify.range'),
            ({ from_position: from, to_position: to }) => `#${from + 1} – #${to}`,
          ],
          [
            t('shared.status'),
            (item) => <StatusTag tone={toneOf(item)}>{t(`audit.job.${item.status}`)}</StatusTag>,
          ],
          [{ end: t('audit.verify.found') }, (item) => number.format(item.finding_count)],
        ]}
      />
    </>
  )
}
