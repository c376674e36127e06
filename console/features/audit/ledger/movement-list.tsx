import { type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { type Column, column, HIDDEN_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { SelectFilter } from '#console/ui/lists/select-filter.tsx'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import { boundsBeforeEnd, type TimeRange } from '#console/ui/time-range/time-range.ts'
import type { BalanceAt, LedgerItem } from '#read-api/contract/ledger.ts'
import { MOVEMENT_TYPES, type MovementType } from '#read-api/contract/ledger-movement-types.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { AsOfFilter } from '../elements/as-of-filter.tsx'
import { CursorList } from '../elements/cursor-list.tsx'
import { exportItems, useFileDownload } from '../elements/file-download.tsx'
import { numberColumn, quotaColumn, timeColumn } from '../elements/time-and-amount-columns.tsx'
import { userText } from '../elements/user-names.ts'
import { type Account, balanceQuery, type LedgerParams, ledgerQuery } from './ledger-queries.ts'
import { MovementDetails } from './movement-details.tsx'
import { asKnownType, detailsText, MovementSource, movementTypeText } from './movement-text.tsx'

type Filters = { range: TimeRange; type: MovementType | ''; at: string }

const MINUTE = 60

/**
 * Returns the filters of the request. A relative range, such as the last 30 days, ends at `end`
 * (Unix seconds). `end` is rounded up to a full minute, so that the request does not change every
 * second.
 */
function paramsOf({ range, type, at }: Filters, end: number): LedgerParams {
  const { from, to } = boundsBeforeEnd(range, Math.ceil(end / MINUTE) * MINUTE)
  return {
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...{ types: type, at },
  }
}

/**
 * Converts the selected point in the history to a time in Unix seconds. A position of the event log
 * becomes the time of the account's last event up to this position. While this time is unknown,
 * such as before `balance` has loaded, the current time is returned.
 */
function asOfSeconds(at: string, balance: BalanceAt | undefined): number {
  if (at === '') return currentSeconds()
  const time = /^\d+$/.test(at) ? (balance?.at ?? 0) : Date.parse(at) / 1000
  return time === 0 ? currentSeconds() : time
}

export function MovementList(props: {
  account: Account
  filters: Filters
  onFilters: (patch: Partial<Filters>) => void
}) {
  const { t } = useTranslation()
  const { account, filters, onFilters } = props
  const isAudit = isAuditor(useUser())
  const balance = useQuery(balanceQuery(account, filters.at))
  const params = paramsOf(filters, asOfSeconds(filters.at, balance.data))
  const query = useInfiniteQuery(ledgerQuery(account, params))
  const columns = useMemo(() => movementColumns(t, isAudit, account), [t, isAudit, account])
  const page = query.data?.pages[0]
  return (
    <>
      <Balance balance={balance} at={filters.at} onAt={(at) => onFilters({ at })} />
      <CursorList
        label={t('audit.ledger.tab.movements')}
        query={query}
        rowKey={rowKey}
        layoutKey="ledger-table-columns"
        columns={columns}
        expand={(item) => <MovementDetails account={account} item={item} />}
        moreText={t('audit.loadOlder')}
        tools={<ExportMenu account={account} params={params} />}
        filters={
          <>
            <RangeFilter range={filters.range} onRange={(range) => onFilters({ range })} />
            <SelectFilter
              label={t('shared.type')}
              any={t('shared.allTypes')}
              value={filters.type}
              choices={choicesOf(MOVEMENT_TYPES, (value) => t(`audit.movement.${value}`))}
              onChange={(type) => onFilters({ type })}
            />
            {page !== undefined && (
              <span className="tg-ledger-ends">
                {t('audit.ledger.opening')} <ExactQuota value={page.opening.total} />
                {' → '}
                {t('audit.ledger.closing')} <ExactQuota value={page.closing.total} />
              </span>
            )}
          </>
        }
        empty={
          <EmptyState
            icon="wallet"
            title={t('audit.ledger.none')}
            body={t('audit.ledger.noneLead')}
          />
        }
      />
    </>
  )
}

const rowKey = ({ position }: LedgerItem): string => String(position)

/**
 * Shows the balance and the held quota of an account at a point in the history. Held quota is set
 * aside for running calls. Held quota is shown as a separate figure, because no movement in the
 * ledger contains it.
 */
function Balance(props: {
  balance: Pick<UseQueryResult<BalanceAt>, 'data' | 'error'>
  at: string
  onAt: (at: string) => void
}) {
  const { t } = useTranslation()
  const { data, error } = props.balance
  const amount = (value: number | undefined): ReactNode =>
    value === undefined ? '…' : <ExactQuota value={value} />
  return (
    <section className="tg-ends tg-ledger-balance" aria-label={t('shared.balance')}>
      <LabelledValues
        values={[
          [t('audit.ledger.total'), amount(data?.total)],
          [t('audit.ledger.spendable'), amount(data?.balance)],
          [t('audit.ledger.held'), amount(data?.held)],
        ]}
      />
      <div>
        <AsOfFilter at={props.at} onAt={props.onAt} />
        {error !== null && (
          <p className="tg-field-error" role="alert">
            {error.message}
          </p>
        )}
      </div>
    </section>
  )
}

function ExportMenu({ account, params }: { account: Account; params: LedgerParams }) {
  const { t } = useTranslation()
  const download = useFileDownload()
  const start = (format: 'csv' | 'ndjson') =>
    download.start({
      ...(account === null
        ? { route: 'GET /api/ledger/self/export' }
        : { route: 'GET /api/audit/ledger/:userId/export', params: { userId: account } }),
      query: { ...params, format },
      name: `ledger-${account ?? 'own'}.${format}`,
    })
  if (download.bytes !== null) {
    return (
      <Button icon="close" onClick={download.cancel}>
        {t('usageLog.exportCancel')}
      </Button>
    )
  }
  return (
    <MenuButton items={exportItems(t, start)}>
      <Button icon="download" label={t('shared.export')} />
    </MenuButton>
  )
}

const TONES: Readonly<Record<MovementType, Tone>> = {
  call: 'neutral',
  grant: 'good',
  deduction: 'warn',
  redemption: 'good',
  order: 'good',
  refund: 'warn',
  check_in: 'lime',
  transfer: 'info',
  rebate: 'lime',
  correction: 'info',
}

const movementColumns = (
  t: TFunction,
  showsAuditColumns: boolean,
  account: Account,
): Column<LedgerItem>[] => [
  timeColumn('time', t('shared.time'), ({ created_at: at }) => at, {
    isPinned: true,
    onCard: 'title',
  }),
  column('type', t('shared.type'), 100, ({ type }) => <TypeTag t={t} type={type} />, {
    onCard: 'aside',
  }),
  column('source', t('shared.source'), 190, (item) => (
    <MovementSource item={item} account={account} />
  )),
  column('details', t('audit.ledger.details'), 160, (item) => detailsText(t, item) || '–', {
    isGrowing: true,
  }),
  numberColumn('amount', t('shared.amount'), 120, ({ amount }) => <QuotaChange value={amount} />),
  quotaColumn('total', t('audit.ledger.running'), 130, ({ total }) => total),
  quotaColumn('held', t('audit.ledger.held'), 110, ({ held }) => held, HIDDEN_COLUMN),
  column('revision', t('audit.revision'), 110, ({ revision }) => `#${revision}`, HIDDEN_COLUMN),
  ...(showsAuditColumns
    ? [
        column<LedgerItem>('actor', t('audit.actor'), 110, (item) => actorCell(t, item)),
        column<LedgerItem>(
          'channel',
          t('shared.channelId'),
          90,
          ({ channel_id: id }) => (id === 0 ? '–' : `#${id}`),
          HIDDEN_COLUMN,
        ),
      ]
    : []),
]

function TypeTag({ t, type }: { t: TFunction; type: string }) {
  const known = asKnownType(type)
  const tag = (
    <StatusTag tone={known === undefined ? 'neutral' : TONES[known]} isPlain>
      {known === undefined ? t('audit.ledger.otherType') : movementTypeText(t, known)}
    </StatusTag>
  )
  return known === undefined ? <span title={type}>{tag}</span> : tag
}

const actorCell = (t: TFunction, { actor_id: id, actor_name: name }: LedgerItem): string =>
  id === 0 ? t('audit.site') : userText(t, id, name)
