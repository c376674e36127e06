import { infiniteQueryOptions, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isRoot, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { Button, CreateButton } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Correction } from '#read-api/contract/corrections.ts'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { ColumnTable, Facts } from '../elements/small-tables.tsx'
import { numberColumn, quotaColumn, timeColumn } from '../elements/time-and-amount-columns.tsx'
import { userText, useUserNames } from '../elements/user-names.ts'
import type { Scope } from './call-scope-filters.tsx'
import { CorrectionForm, FACTOR_BY_PRICE_FIELD, PRICE_FIELDS } from './correction-form.tsx'
import { useApplyCorrection } from './correction-preview-panel.tsx'
import { UserLink } from './result-tables.tsx'
import { correctedPriceOf, labelOf, type WhatIfPriceDraft } from './what-if-price-draft.ts'

const CORRECTIONS_KEY = ['audit', 'corrections'] as const
const PER_PAGE = 50
/**
 * The polling interval (ms) while a correction is unfinished. The correction may be running in
 * another server process.
 */
const POLL_INTERVAL_MS = 2_000

type Props = {
  scope: Scope
  onScope: (patch: Partial<Scope>) => void
  isNew: boolean
  onNew: (isNew: boolean) => void
  /**
   * The draft of the what-if prices. The form for a new correction opens with the values that the
   * draft has for the model.
   */
  draft: WhatIfPriceDraft
}

const isUnfinished = ({ finished_at: at }: Correction): boolean => at === null

const correctionsQuery = infiniteQueryOptions({
  ...cursorQuery(CORRECTIONS_KEY, (cursor, signal) =>
    call('GET /api/audit/corrections', { query: { cursor, limit: PER_PAGE }, signal }),
  ),
  refetchInterval: ({ state }) =>
    state.data?.pages.some(({ items }) => items.some(isUnfinished)) === true
      ? POLL_INTERVAL_MS
      : false,
})

/** Lists the corrections of charges. Super admins can create a new correction. */
export function CorrectionsPanel({ scope, onScope, isNew, onNew, draft }: Props) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const number = useNumberFormat()
  const mayCorrect = isRoot(useUser()) && currentScratchCopy() === null
  const query = useInfiniteQuery(correctionsQuery)
  const refetch = () => client.invalidateQueries({ queryKey: CORRECTIONS_KEY })
  const columns = useMemo(() => correctionColumns(t, number), [t, number])
  const create = {
    id: 'corrections-create',
    title: t('reconciliation.correction.create'),
    keys: 'n',
    icon: 'add',
    perform: () => onNew(true),
  } as const
  useRegisterActions(mayCorrect ? [create] : [])
  const handleApplied = async (): Promise<void> => {
    onNew(false)
    await refetch()
  }
  return (
    <>
      {mayCorrect && isNew && (
        <CorrectionForm
          scope={scope}
          price={correctedPriceOf(draft, scope.model)}
          onScope={onScope}
          onApplied={handleApplied}
          onClose={() => onNew(false)}
        />
      )}
      <CursorList
        label={t('reconciliation.correction.title')}
        query={query}
        rowKey={({ id }) => id}
        layoutKey="corrections-table-columns"
        columns={columns}
        expand={(correction) => <Details correction={correction} onChange={refetch} />}
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
  timeColumn('time', t('shared.time'), ({ started_at: at }) => at, { onCard: 'aside' }),
  column('model', t('ui.model'), 140, ({ model }) => model, TITLE_COLUMN),
  column('state', t('reconciliation.correction.state'), 120, (row) => (
    <CorrectionStatus t={t} row={row} />
  )),
  numberColumn('calls', t('shared.calls'), 72, (row) => number.format(row.applied.calls)),
  quotaColumn(
    'refunded',
    t('reconciliation.correction.refunded'),
    110,
    (row) => row.applied.refunded,
  ),
  quotaColumn('charged', t('reconciliation.correction.charged'), 140, (row) => row.applied.charged),
  column('reason', t('audit.acts.reason'), 200, ({ reason }) => reason || '–'),
  column('price', t('reconciliation.correction.priceColumn'), 220, (row) => priceText(t, row), {
    ...HIDDEN_COLUMN,
  }),
  column(
    'actor',
    t('audit.actor'),
    130,
    ({ requested_by: id, requested_by_name: name }) => userText(t, id, name),
    HIDDEN_COLUMN,
  ),
]

const minuteText = (at: number): string => stampText(at).slice(0, 16)

function CorrectionStatus({ t, row }: { t: TFunction; row: Correction }) {
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
  // A stored correction uses other names for the factors of a price than a request does.
  const factors = PRICE_FIELDS.map((name) => FACTOR_BY_PRICE_FIELD[name])
  const parts = factors
    .filter((name) => price[name] !== undefined)
    .map((name) => `${t(`shared.factor.${labelOf(name)}`)} ${price[name] ?? ''}`)
  return parts.join(' · ') || '–'
}

function Details(props: { correction: Correction; onChange: () => Promise<void> }) {
  const { t } = useTranslation()
  const { correction } = props
  const { id, group, from, to, finished_at: finishedAt, requested_by: requestedBy } = correction
  const { requested_by_name: name, applied } = correction
  const { unpaid } = applied
  const number = useNumberFormat()
  const rule = useMoneyRule()
  const money = (value: number): string => exactQuotaText(quotaOf(value), rule)
  const plannedText = t('reconciliation.correction.plannedText', {
    ...{ count: correction.calls, number: number.format(correction.calls) },
    ...{ refunded: money(correction.refunded), charged: money(correction.charged) },
  })
  const isWaiting = isUnfinished(correction)
  return (
    <div className="tg-audit-act">
      {isWaiting && <UnfinishedCorrection {...props} />}
      {correction.failed.length > 0 && <FailedAccounts failed={correction.failed} />}
      <Facts
        facts={[
          [t('reconciliation.correction.period'), `${minuteText(from)} – ${minuteText(to)}`],
          [t('ui.groupName'), group],
          [t('audit.accounts.title'), number.format(correction.accounts)],
          [t('reconciliation.correction.unpaid'), unpaid > 0 && money(unpaid)],
          [t('shared.preview'), plannedText],
          [t('reconciliation.correction.priceColumn'), priceText(t, correction)],
          [t('audit.acts.reason'), correction.reason],
          [t('audit.actor'), <UserLink key="actor" id={requestedBy} name={name} />],
          [t('shared.finishedAt'), finishedAt !== null && stamp(finishedAt)],
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
 * Lists the accounts for which a correction failed. The charges of these accounts are unchanged. A
 * later correction of the same period will include these accounts.
 */
function FailedAccounts({ failed }: { failed: Correction['failed'] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const names = useUserNames(failed.map(({ user_id: id }) => id))
  const title = t('reconciliation.correction.failed')
  return (
    <section>
      <h3>{title}</h3>
      <ColumnTable
        label={title}
        rows={failed}
        rowKey={({ user_id: id }) => String(id)}
        columns={[
          [t('shared.user'), ({ user_id: id }) => <UserLink id={id} name={names.get(id)} />],
          [{ end: t('shared.calls') }, ({ calls }) => number.format(calls)],
          [t('reconciliation.correction.errorCode'), ({ code }) => <code>{code}</code>],
        ]}
      />
    </section>
  )
}

/**
 * Says that a correction is unfinished, and lets a super admin continue it. The continued
 * correction applies the same preview that a super admin confirmed when the correction was started.
 */
function UnfinishedCorrection(props: { correction: Correction; onChange: () => Promise<void> }) {
  const { t } = useTranslation()
  const { preview, reason } = props.correction
  const mayContinue = isRoot(useUser()) && preview !== null && currentScratchCopy() === null
  const applyCorrection = useApplyCorrection()
  const { isBusy, submit } = useSubmit(async () => {
    await applyCorrection({ preview: preview ?? '', reason: reason || '–' })
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
