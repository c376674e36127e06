import { infiniteQueryOptions, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { openCopy } from '#console/api/scratch-copy.ts'
import { isRoot, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { useRegisterActions } from '#console/ui/actions/action.ts'
import { type Column, column, HIDDEN_COLUMN, TITLE_COLUMN } from '#console/ui/data-grid/column.ts'
import { Button, CreateButton } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Correction } from '#read-api/contract/corrections.ts'
import { numberColumn, quotaColumn, timeColumn } from '../elements/columns.tsx'
import { CursorList, nextCursor } from '../elements/cursor-list.tsx'
import { DataTable, Facts } from '../elements/data-table.tsx'
import { PRICE_MEMBER_NAMES, PRICE_MEMBERS } from './corrected-price-members.ts'
import { CorrectionForm } from './correction-form.tsx'
import { UserLink } from './result-tables.tsx'
import type { Scope } from './scan-scope.ts'

const CORRECTIONS_KEY = ['audit', 'corrections'] as const
const PER_PAGE = 50
/**
 * The polling interval (ms) for unfinished corrections, which may be running in another server
 * process.
 */
const UNFINISHED_EVERY_MS = 2_000

type Props = {
  scope: Scope
  onScope: (patch: Partial<Scope>) => void
  isNew: boolean
  onNew: (isNew: boolean) => void
}

const isUnfinished = ({ finished_at: at }: Correction): boolean => at === null

const correctionsQuery = infiniteQueryOptions({
  queryKey: CORRECTIONS_KEY,
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/audit/corrections', { query: { cursor: pageParam, limit: PER_PAGE }, signal }),
  getNextPageParam: (page) => nextCursor(page),
  refetchInterval: ({ state }) =>
    state.data?.pages.some(({ items }) => items.some(isUnfinished)) === true
      ? UNFINISHED_EVERY_MS
      : false,
})

/** Lists the corrections of charges. Super admins can create a new one. */
export function CorrectionsPanel({ scope, onScope, isNew, onNew }: Props) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const number = useNumberFormat()
  const mayCorrect = isRoot(useUser()) && openCopy() === null
  const query = useInfiniteQuery(correctionsQuery)
  const readAgain = () => client.invalidateQueries({ queryKey: CORRECTIONS_KEY })
  const columns = useMemo(() => correctionColumns(t, number), [t, number])
  const create = {
    id: 'corrections-create',
    title: t('reconciliation.correction.create'),
    keys: 'n',
    icon: 'add',
    perform: () => onNew(true),
  } as const
  useRegisterActions(mayCorrect ? [create] : [])
  const applied = async (): Promise<void> => {
    onNew(false)
    await readAgain()
  }
  return (
    <>
      {mayCorrect && isNew && (
        <CorrectionForm
          scope={scope}
          onScope={onScope}
          onApplied={applied}
          onClose={() => onNew(false)}
        />
      )}
      <CursorList
        label={t('reconciliation.correction.title')}
        query={query}
        rowKey={({ id }) => id}
        layoutKey="corrections-table-columns"
        columns={columns}
        expand={(correction) => <Details correction={correction} onChange={readAgain} />}
        filters={<h2>{t('reconciliation.correction.title')}</h2>}
        tools={
          mayCorrect && !isNew && <CreateButton text={create.title} onClick={create.perform} />
        }
        moreText={t('audit.loadOlder')}
        empty={
          <EmptyState
            icon="edit"
            title={t('reconciliation.correction.none')}
            body={t('reconciliation.correction.noneLead')}
          />
        }
      />
    </>
  )
}

const correctionColumns = (t: TFunction, number: Intl.NumberFormat): Column<Correction>[] => [
  timeColumn('time', t('audit.time'), ({ started_at: at }) => at, { onCard: 'aside' }),
  column('model', t('ui.model'), 140, ({ model }) => model, TITLE_COLUMN),
  column('state', t('reconciliation.correction.state'), 120, (row) => <State t={t} row={row} />),
  numberColumn('calls', t('shared.calls'), 72, ({ calls }) => number.format(calls)),
  quotaColumn('refunded', t('reconciliation.correction.refunded'), 110, (row) => row.refunded),
  quotaColumn('charged', t('reconciliation.correction.charged'), 140, (row) => row.charged),
  column('reason', t('audit.acts.reason'), 200, ({ reason }) => reason || '–'),
  column('price', t('reconciliation.correction.priceColumn'), 220, (row) => priceText(t, row), {
    ...HIDDEN_COLUMN,
  }),
  column('actor', t('audit.actor'), 80, ({ requested_by: id }) => `#${id}`, HIDDEN_COLUMN),
]

const minuteText = (at: number): string => stampText(at).slice(0, 16)

function State({ t, row }: { t: TFunction; row: Correction }) {
  const isPartial = row.failed.length > 0
  if (isUnfinished(row)) {
    return <StatusTag tone="warn">{t('reconciliation.correction.unfinished')}</StatusTag>
  }
  return isPartial ? (
    <StatusTag tone="bad">{t('reconciliation.correction.partly')}</StatusTag>
  ) : (
    <StatusTag tone="good">{t('reconciliation.correction.finished')}</StatusTag>
  )
}

function priceText(t: TFunction, { price }: Correction): string {
  // The list has the names of the domain, and the form those of the request.
  const factors = PRICE_MEMBER_NAMES.map((name) => PRICE_MEMBERS[name])
  const parts = factors
    .filter((name) => price[name] !== undefined)
    .map((name) => `${t(`shared.factor.${name}`)} ${price[name] ?? ''}`)
  return parts.join(' · ') || '–'
}

function Details(props: { correction: Correction; onChange: () => Promise<void> }) {
  const { t } = useTranslation()
  const { correction } = props
  const { id, group, from, to, finished_at: finishedAt, requested_by: requestedBy } = correction
  const number = useNumberFormat()
  const isWaiting = isUnfinished(correction)
  return (
    <div className="tg-audit-act">
      {isWaiting && <Unfinished {...props} />}
      {correction.failed.length > 0 && <FailedAccounts failed={correction.failed} />}
      <Facts
        facts={[
          [t('reconciliation.correction.period'), `${minuteText(from)} – ${minuteText(to)}`],
          [t('ui.groupName'), group],
          [t('reconciliation.correction.accounts'), number.format(correction.accounts)],
          [t('reconciliation.correction.priceColumn'), priceText(t, correction)],
          [t('audit.acts.reason'), correction.reason],
          [t('audit.actor'), <UserLink key="actor" id={requestedBy} />],
          [t('reconciliation.correction.finishedAt'), finishedAt !== null && stamp(finishedAt)],
          [t('shared.id'), <code key="id">{id}</code>],
        ]}
      />
      <p>
        <Link
          to={`/app/audit/log?${new URLSearchParams({ object: `correction:${id}`, range: 'all' })}`}
        >
          {t('reconciliation.correction.toAudit')}
        </Link>
      </p>
    </div>
  )
}

/**
 * Lists the accounts in which the correction failed. They keep their charges, and another
 * correction of the same period includes them.
 */
function FailedAccounts({ failed }: { failed: Correction['failed'] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const title = t('reconciliation.correction.failed')
  return (
    <section>
      <h3>{title}</h3>
      <DataTable
        label={title}
        heads={[
          t('shared.user'),
          { end: t('shared.calls') },
          t('reconciliation.correction.errorCode'),
        ]}
        rows={failed.map(({ user_id: id, calls, code }) => ({
          key: String(id),
          cells: [
            <UserLink key="user" id={id} />,
            number.format(calls),
            <code key="code">{code}</code>,
          ],
        }))}
      />
    </section>
  )
}

/**
 * Continues a correction that was interrupted. The preview that the admin confirmed still applies.
 */
function Unfinished(props: { correction: Correction; onChange: () => Promise<void> }) {
  const { t } = useTranslation()
  const { preview, reason } = props.correction
  const mayContinue = isRoot(useUser()) && preview !== null && openCopy() === null
  const { isBusy, submit } = useSubmit(async () => {
    const body = { preview: preview ?? '', reason: reason || '–' }
    const { calls } = await retryWithIdentityProof(() =>
      call('POST /api/audit/corrections', { body }),
    )
    showSuccess(t('reconciliation.correction.applied', { count: calls }))
    await props.onChange()
  })
  return (
    <p className="tg-reconciliation-unfinished">
      {t('reconciliation.correction.unfinishedHint')}
      {mayContinue && (
        <Button isBusy={isBusy} onClick={() => void submit()}>
          {t('reconciliation.correction.continue')}
        </Button>
      )}
    </p>
  )
}
