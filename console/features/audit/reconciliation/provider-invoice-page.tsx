import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate, useParams } from 'react-router-dom'
import { retryUnlessMissing } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { type Column, column, TITLE_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { HistoryLink } from '#console/ui/elements/history-link.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { confirmDelete } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type {
  Comparison,
  ProviderInvoiceComparison,
  ProviderInvoiceItem,
  RequestMatch,
} from '#read-api/contract/provider-invoices.ts'
import { ExactQuota, Hash, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { CsvDownload, type FileRequest } from '../elements/file-download.tsx'
import { ObjectFallback } from '../elements/object-fallback.tsx'
import { ColumnTable, Facts } from '../elements/small-tables.tsx'
import { numberColumn, quotaColumn } from '../elements/time-and-amount-columns.tsx'
import {
  fileNamePrefixOf,
  MATCHES,
  NoItems,
  ProviderInvoiceRequestIds,
} from './provider-invoice-request-ids.tsx'
import { currencyText, PROVIDER_INVOICES_KEY } from './provider-invoices-panel.tsx'
import { Figures, Margin, ResultPart } from './result-tables.tsx'
import '../audit.css'
import '../proofs/proofs.css'
import '#console/ui/forms/forms.css'
import './reconciliation.css'

const COMPARISONS = ['matched', 'different', 'only_ours', 'only_theirs'] as const
const TONES: Readonly<Record<Comparison, Tone>> = {
  matched: 'good',
  different: 'warn',
  only_ours: 'info',
  only_theirs: 'bad',
}
const URL_PARAMS = {
  comparison: choiceParam<Comparison | ''>(COMPARISONS, ''),
  match: choiceParam<RequestMatch>(MATCHES, 'different'),
}
const LIST_PATH = '/app/audit/reconciliation?tab=invoices'
const PER_PAGE = 50

export const ProviderInvoicePage = auditorsOnlyPage('reconciliation.invoice.title', ProviderInvoice)

/** Compares an invoice of a provider with the usage that this site recorded for the channel. */
function ProviderInvoice() {
  const { t } = useTranslation()
  const { id: invoiceId = '' } = useParams()
  const [{ comparison, match }, set] = useUrlState(URL_PARAMS)
  const query = useInfiniteQuery({
    ...cursorQuery([...PROVIDER_INVOICES_KEY, invoiceId, comparison], (cursor, signal) =>
      call('GET /api/audit/invoices/:id', {
        params: { id: invoiceId },
        query: { comparison, cursor, limit: PER_PAGE },
        signal,
      }),
    ),
    retry: retryUnlessMissing,
  })
  const number = useNumberFormat()
  const columns = useMemo(() => itemColumns(t, number), [t, number])
  const invoice = query.data?.pages[0]
  if (invoice === undefined) {
    return <NoInvoice error={query.error} onRetry={() => void query.refetch()} />
  }
  return (
    <ProviderInvoiceShell invoice={invoice}>
      {invoice.requests !== null && (
        <ProviderInvoiceRequestIds
          invoice={invoice}
          match={match}
          onMatch={(next) => set({ match: next })}
        />
      )}
      <CursorList
        label={t('reconciliation.invoice.byDay')}
        query={query}
        rowKey={({ day, model }) => `${day} ${model}`}
        layoutKey="invoice-items-columns"
        columns={columns}
        filters={
          <>
            <h2>{t('reconciliation.invoice.byDay')}</h2>
            <ComparisonFilter
              counts={invoice.counts}
              value={comparison}
              onChange={(next) => set({ comparison: next })}
            />
            {invoice.requests !== null && (
              <span className="tg-muted">{t('reconciliation.invoice.restLead')}</span>
            )}
          </>
        }
        tools={<CsvDownload file={daysFile(invoice, comparison)} />}
        moreText={t('audit.loadMore')}
        empty={<NoItems body={t('reconciliation.invoice.noItemsLead')} />}
      />
    </ProviderInvoiceShell>
  )
}

const daysFile = (
  invoice: ProviderInvoiceComparison,
  comparison: Comparison | '',
): FileRequest => ({
  route: 'GET /api/audit/invoices/:id/export',
  params: { id: invoice.id },
  query: { comparison },
  name: `${fileNamePrefixOf(invoice)}-days-${comparison || 'all'}.csv`,
})

function ComparisonFilter(props: {
  counts: ProviderInvoiceComparison['counts']
  value: Comparison | ''
  onChange: (comparison: Comparison | '') => void
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { counts, ...rest } = props
  const all = COMPARISONS.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const choice = (value: Comparison | '', name: string, count: number) => ({
    ...{ value, label: `${name} (${number.format(count)})` },
  })
  return (
    <Segmented
      label={t('reconciliation.invoice.comparison')}
      choices={[
        choice('', t('reconciliation.invoice.any'), all),
        ...COMPARISONS.map((name) =>
          choice(name, t(`reconciliation.invoice.of.${name}`), counts[name] ?? 0),
        ),
      ]}
      {...rest}
    />
  )
}

function NoInvoice({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useTranslation()
  return (
    <Page title={t('reconciliation.invoice.title')}>
      <Panel>
        <ObjectFallback
          error={error}
          onRetry={onRetry}
          missing={{
            title: t('reconciliation.invoice.notFound'),
            body: t('reconciliation.invoice.notFoundLead'),
            action: <ButtonLink to={LIST_PATH}>{t('reconciliation.invoice.back')}</ButtonLink>,
          }}
        />
      </Panel>
    </Page>
  )
}

function ProviderInvoiceShell(props: { invoice: ProviderInvoiceComparison; children: ReactNode }) {
  const { t } = useTranslation()
  const { invoice } = props
  const { channel_id: channel, channel_name: name, first_day: first, last_day: last } = invoice
  const mayManage = isAdmin(useUser())
  const number = useNumberFormat()
  const known = invoice.requests?.known_ids ?? 0
  const title = t('reconciliation.invoice.pageTitle', { channel })
  return (
    <Page
      title={name === '' ? title : `${title} · ${name}`}
      lead={t('reconciliation.invoice.pageLead', { first, last })}
      actions={
        <>
          <ButtonLink to={LIST_PATH}>{t('reconciliation.invoice.back')}</ButtonLink>
          <HistoryLink object={`invoice:${invoice.id}`} />
          {mayManage && currentScratchCopy() === null && <DeleteButton id={invoice.id} />}
        </>
      }
    >
      {invoice.is_out_of_range && (
        <Alert tone="bad">{t('reconciliation.invoice.outOfRangeLead')}</Alert>
      )}
      {known > 0 && (
        <Alert>
          {t('reconciliation.invoice.knownIds', { count: known, ids: number.format(known) })}
        </Alert>
      )}
      <Totals invoice={invoice} />
      {props.children}
    </Page>
  )
}

function DeleteButton({ id }: { id: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { isBusy, submit } = useSubmit(async () => {
    const title = t('reconciliation.invoice.deleteTitle')
    if (!(await confirmDelete(title, t('reconciliation.invoice.deleteBody')))) return
    await call('DELETE /api/audit/invoices/:id', { params: { id } })
    await client.invalidateQueries({ queryKey: PROVIDER_INVOICES_KEY, exact: true })
    // The message is shown after the navigation, because the navigation closes earlier messages.
    await navigate(LIST_PATH)
    showSuccess(t('reconciliation.invoice.deleted'))
  })
  return (
    <Button tone="danger" icon="trash" isBusy={isBusy} onClick={() => void submit()}>
      {t('shared.delete')}
    </Button>
  )
}

/** Shows the totals of the invoice and the margin of each model. */
function Totals({ invoice }: { invoice: ProviderInvoiceComparison }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { total, models } = invoice
  return (
    <Panel title={t('reconciliation.invoice.totals')} lead={t('reconciliation.invoice.marginLead')}>
      <Figures
        figures={[
          [t('reconciliation.invoice.billed'), <ExactQuota key="billed" value={total.billed} />],
          [t('reconciliation.invoice.cost'), <ExactQuota key="cost" value={total.cost} />],
          [
            t('shared.difference'),
            <QuotaChange key="difference" value={total.billed - total.cost} isNeutral />,
          ],
          [t('reconciliation.figure.charged'), <ExactQuota key="charged" value={total.charged} />],
          [t('shared.margin'), <Margin key="margin" {...total} />],
        ]}
      />
      <ResultPart title={t('shared.byModel')}>
        <ColumnTable
          label={t('shared.byModel')}
          rows={models}
          rowKey={({ model }) => model}
          columns={[
            [t('ui.model'), ({ model }) => model],
            [{ end: t('shared.calls') }, ({ calls }) => number.format(calls)],
            [{ end: t('reconciliation.invoice.rows') }, ({ rows }) => number.format(rows)],
            [
              { end: t('reconciliation.invoice.billed') },
              ({ billed }) => <ExactQuota value={billed} />,
            ],
            [{ end: t('reconciliation.invoice.cost') }, ({ cost }) => <ExactQuota value={cost} />],
            [
              { end: t('reconciliation.figure.charged') },
              ({ charged }) => <ExactQuota value={charged} />,
            ],
            [{ end: t('shared.margin') }, (row) => <Margin {...row} />],
          ]}
        />
      </ResultPart>
      <FileFacts invoice={invoice} />
    </Panel>
  )
}

/**
 * Shows facts about the imported file, including the number and the amount of the lines that were
 * matched with calls by request id.
 */
function FileFacts({ invoice }: { invoice: ProviderInvoiceComparison }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { requests } = invoice
  const duplicates = requests?.duplicates_billed ?? 0
  return (
    <ResultPart title={t('reconciliation.invoice.file')}>
      <Facts
        facts={[
          [t('reconciliation.invoice.at'), stamp(invoice.imported_at)],
          [t('reconciliation.invoice.rows'), number.format(invoice.rows)],
          [t('reconciliation.invoice.duplicates'), number.format(invoice.duplicates)],
          [
            t('reconciliation.invoice.corrections'),
            invoice.corrections > 0 && <Corrections {...invoice} />,
          ],
          [t('reconciliation.invoice.currency'), currencyText(invoice)],
          [t('reconciliation.invoice.matchedById'), requests && <MatchedById {...requests} />],
          [
            t('reconciliation.invoice.duplicatesBilled'),
            duplicates > 0 && <ExactQuota value={duplicates} />,
          ],
          [t('reconciliation.invoice.digest'), <Hash key="digest" value={invoice.digest} />],
        ]}
      />
    </ResultPart>
  )
}

function MatchedById({ rows, billed }: { rows: number; billed: number }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const rule = useMoneyRule()
  const money = exactQuotaText(quotaOf(billed), rule)
  return t('reconciliation.invoice.byIdText', {
    ...{ count: rows, rows: number.format(rows), billed: money },
  })
}

/** Shows how many rows have a day outside the invoice's period, and the amount of these rows. */
function Corrections(
  invoice: Pick<ProviderInvoiceComparison, 'corrections' | 'corrections_billed'>,
) {
  const number = useNumberFormat()
  return (
    <>
      {number.format(invoice.corrections)} ·{' '}
      <QuotaChange value={invoice.corrections_billed} isNeutral />
    </>
  )
}

/**
 * Returns the columns of the comparison. A window that is 1280 pixels wide has no space for all of
 * them. The counts of rows and tokens are therefore the last columns and initially hidden.
 */
const itemColumns = (t: TFunction, number: Intl.NumberFormat): Column<ProviderInvoiceItem>[] => [
  column('day', t('reconciliation.invoice.column.day'), 108, ({ day }) => day, {
    onCard: 'aside',
  }),
  column('model', t('ui.model'), 150, ({ model }) => model, TITLE_COLUMN),
  column('comparison', t('reconciliation.invoice.comparison'), 120, ({ comparison }) => (
    <StatusTag tone={TONES[comparison]}>{t(`reconciliation.invoice.of.${comparison}`)}</StatusTag>
  )),
  numberColumn('calls', t('shared.calls'), 72, ({ calls }) => number.format(calls)),
  quotaColumn('cost', t('reconciliation.invoice.cost'), 120, ({ cost }) => cost),
  quotaColumn('billed', t('reconciliation.invoice.billed'), 120, ({ billed }) => billed),
  numberColumn('difference', t('shared.difference'), 120, ({ billed, cost }) => (
    <QuotaChange value={billed - cost} isNeutral />
  )),
  numberColumn('margin', t('shared.margin'), 120, ({ margin }) => <QuotaChange value={margin} />),
  numberColumn('rows', t('reconciliation.invoice.rows'), 80, ({ rows }) => number.format(rows), {
    isHiddenAtFirst: true,
  }),
  numberColumn(
    'tokens',
    t('reconciliation.invoice.tokens'),
    120,
    ({ tokens }) => number.format(tokens),
    { isHiddenAtFirst: true },
  ),
  numberColumn(
    'billedTokens',
    t('reconciliation.invoice.billedTokens'),
    130,
    ({ billed_tokens: tokens }) => number.format(tokens),
    { isHiddenAtFirst: true },
  ),
]
