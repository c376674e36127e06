import { useInfiniteQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { SelectFilter } from '#console/ui/lists/select-filter.tsx'
import type {
  ProviderInvoiceComparison,
  ProviderInvoiceRequest,
  RequestMatch,
} from '#read-api/contract/provider-invoices.ts'
import { QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { CsvDownload, type FileRequest } from '../elements/file-download.tsx'
import { numberColumn, quotaColumn } from '../elements/time-and-amount-columns.tsx'
import { type UserNames, useUserNames } from '../elements/user-names.ts'
import { PROVIDER_INVOICES_KEY } from './provider-invoices-panel.tsx'
import { CallLink, UserLink } from './result-tables.tsx'

export const MATCHES = [
  ...(['different', 'other_model', 'unknown', 'failed', 'other_period'] as const),
  ...(['duplicate', 'only_ours', 'cost_unknown', 'matched'] as const),
] as const satisfies readonly RequestMatch[]

const PER_PAGE = 50

/**
 * Lists the request ids of an invoice whose comparison with the recorded calls has the result
 * `match`.
 */
export function ProviderInvoiceRequestIds(props: {
  invoice: ProviderInvoiceComparison
  match: RequestMatch
  onMatch: (match: RequestMatch) => void
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { invoice, match, onMatch } = props
  const query = useInfiniteQuery(
    cursorQuery([...PROVIDER_INVOICES_KEY, invoice.id, 'requests', match], (cursor, signal) =>
      call('GET /api/audit/invoices/:id/requests', {
        params: { id: invoice.id },
        query: { match, cursor, limit: PER_PAGE },
        signal,
      }),
    ),
  )
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const names = useUserNames(rows.flatMap(({ call: ours }) => ours?.user_id ?? []))
  const columns = useMemo(() => requestColumns(t, number, names), [t, number, names])
  const counts = invoice.requests?.counts ?? {}
  return (
    <CursorList
      label={t('reconciliation.invoice.byRequest')}
      query={query}
      rowKey={({ row, upstream_id: id }) => `${row} ${id}`}
      layoutKey="invoice-requests-columns"
      columns={columns}
      filters={
        <>
          <h2>{t('reconciliation.invoice.byRequest')}</h2>
          <SelectFilter<RequestMatch>
            label={t('reconciliation.invoice.match')}
            any={matchText(t, 'different', number.format(counts.different ?? 0))}
            choices={MATCHES.filter((name) => name !== 'different').map((value) => ({
              value,
              label: matchText(t, value, number.format(counts[value] ?? 0)),
            }))}
            value={match === 'different' ? '' : match}
            onChange={(next) => onMatch(next === '' ? 'different' : next)}
          />
          <span className="tg-muted">{t(`reconciliation.invoice.matchHint.${match}`)}</span>
        </>
      }
      tools={<CsvDownload file={requestsFile(invoice, match)} />}
      moreText={t('audit.loadMore')}
      empty={<NoItems body={t('reconciliation.invoice.noRequestsLead')} />}
    />
  )
}

/** The content of a list in the comparison of an invoice if no row matches the filter. */
export function NoItems({ body }: { body: string }) {
  const { t } = useTranslation()
  return <EmptyState icon="list" title={t('reconciliation.invoice.noItems')} body={body} />
}

/** Returns the prefix for the names of files with the comparison of an invoice. */
export const fileNamePrefixOf = ({
  channel_id: channel,
  first_day: day,
}: ProviderInvoiceComparison): string => `invoice-channel-${channel}-${day}`

const requestsFile = (invoice: ProviderInvoiceComparison, match: RequestMatch): FileRequest => ({
  route: 'GET /api/audit/invoices/:id/requests/export',
  params: { id: invoice.id },
  query: { match },
  name: `${fileNamePrefixOf(invoice)}-requests-${match}.csv`,
})

const matchText = (t: TFunction, match: RequestMatch, count: string): string =>
  `${t(`reconciliation.invoice.matchOf.${match}`)} (${count})`

const requestColumns = (
  t: TFunction,
  number: Intl.NumberFormat,
  names: UserNames,
): Column<ProviderInvoiceRequest>[] => [
  column('upstream', t('reconciliation.invoice.column.request_id'), 210, upstreamId, {
    ...TITLE_COLUMN,
  }),
  column('call', t('reconciliation.invoice.call'), 170, ({ call: ours }) =>
    ours === null ? '–' : <CallLink requestId={ours.request_id} />,
  ),
  column('model', t('ui.model'), 140, ({ model }) => model),
  column('day', t('reconciliation.invoice.column.day'), 116, ({ day }) => day, {
    onCard: 'aside',
  }),
  quotaColumn('billed', t('reconciliation.invoice.billed'), 110, ({ billed }) => billed),
  quotaColumn(
    'cost',
    t('reconciliation.invoice.cost'),
    110,
    ({ call: ours }) => ours?.cost ?? null,
  ),
  numberColumn('difference', t('shared.difference'), 110, ({ difference }) =>
    difference === null ? '–' : <QuotaChange value={difference} isNeutral />,
  ),
  column(
    'row',
    t('reconciliation.invoice.row'),
    110,
    ({ row, rows }) => rowText(t, number.format(row), rows),
    HIDDEN_COLUMN,
  ),
  column(
    'user',
    t('shared.user'),
    120,
    ({ call: ours }) =>
      ours === null ? '–' : <UserLink id={ours.user_id} name={names.get(ours.user_id)} />,
    HIDDEN_COLUMN,
  ),
  quotaColumn(
    'charged',
    t('reconciliation.figure.charged'),
    110,
    ({ call: ours }) => ours?.charged ?? null,
    HIDDEN_COLUMN,
  ),
]

function rowText(t: TFunction, row: string, rows: number): string {
  if (rows === 0) return '–'
  return rows === 1 ? row : t('reconciliation.invoice.rowOfSeveral', { row, count: rows })
}

const upstreamId = ({ upstream_id: id }: ProviderInvoiceRequest) => <code title={id}>{id}</code>
