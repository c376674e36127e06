import { infiniteQueryOptions, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { CreateButton } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import type { ProviderInvoiceSummary } from '#read-api/contract/provider-invoices.ts'
import { ExactQuota } from '../elements/amounts-and-hashes.tsx'
import { CursorList } from '../elements/cursor-list.tsx'
import { numberColumn, timeColumn } from '../elements/time-and-amount-columns.tsx'
import { ProviderInvoiceImport } from './provider-invoice-import.tsx'

export const PROVIDER_INVOICES_KEY = ['audit', 'invoices'] as const

/** Reads all invoices in one page, because the server limits the number of invoices. */
const invoicesQuery = infiniteQueryOptions({
  queryKey: PROVIDER_INVOICES_KEY,
  initialPageParam: '',
  queryFn: async ({ signal }) => ({
    items: await call('GET /api/audit/invoices', { signal }),
    next_cursor: null,
  }),
  getNextPageParam: () => null,
})

/** Lists the imported invoices of providers. Admins can import more invoices. */
export function ProviderInvoicesPanel(props: { isNew: boolean; onNew: (isNew: boolean) => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const number = useNumberFormat()
  const mayImport = isAdmin(useUser()) && currentScratchCopy() === null
  const query = useInfiniteQuery(invoicesQuery)
  const columns = useMemo(() => invoiceColumns(t, number), [t, number])
  const create = {
    id: 'invoices-import',
    title: t('reconciliation.invoice.importTitle'),
    keys: 'n',
    icon: 'add',
    perform: () => props.onNew(true),
  } as const
  useRegisterActions(mayImport ? [create] : [])
  return (
    <>
      <CursorList
        label={t('reconciliation.invoice.title')}
        query={query}
        rowKey={({ id }) => id}
        layoutKey="invoices-table-columns"
        columns={columns}
        onOpen={({ id }) => void navigate(`/app/audit/invoices/${id}`)}
        filters={<p className="tg-muted">{t('reconciliation.invoice.lead')}</p>}
        tools={
          mayImport && (
            <CreateButton text={t('reconciliation.invoice.import')} onClick={create.perform} />
          )
        }
        moreText={t('audit.loadOlder')}
        empty={
          <EmptyState
            icon="book"
            title={t('reconciliation.invoice.none')}
            body={t('reconciliation.invoice.noneLead')}
          />
        }
      />
      {mayImport && props.isNew && (
        <ProviderInvoiceImport
          isOpen
          onImported={async (id) => {
            await client.invalidateQueries({ queryKey: PROVIDER_INVOICES_KEY, exact: true })
            await navigate(`/app/audit/invoices/${id}`)
          }}
          onClose={() => props.onNew(false)}
        />
      )}
    </>
  )
}

const invoiceColumns = (
  t: TFunction,
  number: Intl.NumberFormat,
): Column<ProviderInvoiceSummary>[] => [
  timeColumn('at', t('reconciliation.invoice.at'), ({ imported_at: at }) => at, {
    onCard: 'aside',
  }),
  column('channel', t('shared.channel'), 150, linkOf, TITLE_COLUMN),
  column('period', t('reconciliation.invoice.period'), 200, daysOf),
  numberColumn('rows', t('reconciliation.invoice.rows'), 96, ({ rows }) => number.format(rows)),
  numberColumn('duplicates', t('reconciliation.invoice.duplicates'), 110, ({ duplicates }) =>
    number.format(duplicates),
  ),
  numberColumn('billed', t('reconciliation.invoice.billed'), 130, (invoice) =>
    invoice.is_out_of_range ? (
      <StatusTag tone="bad">{t('reconciliation.invoice.outOfRange')}</StatusTag>
    ) : (
      <ExactQuota value={invoice.billed} />
    ),
  ),
  column('currency', t('reconciliation.invoice.currency'), 130, currencyText),
  column('digest', t('reconciliation.invoice.digest'), 200, digestOf, HIDDEN_COLUMN),
]

const linkOf = ({ id, channel_id: channel, channel_name: name }: ProviderInvoiceSummary) => (
  <Link className="tg-reconciliation-link" to={`/app/audit/invoices/${id}`}>
    {name === '' ? `#${channel}` : `#${channel} · ${name}`}
  </Link>
)

const daysOf = ({ first_day: first, last_day: last }: ProviderInvoiceSummary): string =>
  first === last ? first : `${first} – ${last}`

/**
 * Returns the currency of an invoice with its value in dollars: `EUR × 1.08` means that one euro is
 * worth 1.08 dollars. For US dollars with a factor of 1, the text is only `USD`.
 */
export const currencyText = ({ currency, dollars }: ProviderInvoiceSummary): string =>
  currency === 'USD' && dollars === '1' ? currency : `${currency} × ${dollars}`

const digestOf = ({ digest }: ProviderInvoiceSummary) => (
  <code title={digest}>{digest.slice(0, 16)}…</code>
)
