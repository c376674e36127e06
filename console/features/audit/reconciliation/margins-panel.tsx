import { useInfiniteQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { type Column, column, TITLE_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { MarginItem, Margins } from '#read-api/contract/margins.ts'
import { ExactQuota } from '../elements/amounts-and-hashes.tsx'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { numberColumn, quotaColumn } from '../elements/time-and-amount-columns.tsx'
import { currentMonth, dayParam, daysOfMonth, MonthInput } from '../elements/utc-month.tsx'
import { Figures, Margin } from './result-tables.tsx'

const PER_PAGE = 50
/**
 * The height (px) reserved for the totals, so that the list below does not move when they appear.
 */
const FIGURES_HEIGHT = 46

/**
 * The first and the last day in UTC. If both are empty, the current month is selected. If only one
 * of them is set, the range is this single day.
 */
type Days = { first: string; last: string }

const chosenDays = ({ first, last }: Days): Days => {
  const month = daysOfMonth(currentMonth())
  if (first === '' && last === '') return month
  return { first: first || last, last: last || first }
}

/**
 * Shows the margins by channel and model. A margin is the charges of users minus the costs of the
 * providers. The costs come from invoices or from the cost ratios of channels.
 */
export function MarginsPanel(props: { days: Days; onDays: (days: Days) => void }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const days = chosenDays(props.days)
  const query = useInfiniteQuery(
    cursorQuery(['audit', 'margins', days], (cursor, signal) =>
      call('GET /api/audit/margins', {
        query: { first_day: days.first, last_day: days.last, cursor, limit: PER_PAGE },
        signal,
      }),
    ),
  )
  const columns = useMemo(() => marginColumns(t, number), [t, number])
  const page = query.data?.pages[0]
  return (
    <>
      <Panel
        title={t('reconciliation.margin.title')}
        lead={t('reconciliation.margin.lead')}
        actions={<DaysInput days={days} onDays={props.onDays} />}
      >
        <QueryView query={{ ...query, data: page }} height={FIGURES_HEIGHT}>
          {(margins) => <MarginSums margins={margins} />}
        </QueryView>
      </Panel>
      {/* If nothing could be read, only the panel of the sums shows the error. */}
      {(page !== undefined || query.error === null) && (
        <CursorList
          label={t('reconciliation.margin.byChannel')}
          query={query}
          rowKey={({ channel_id: channel, model }) => `${channel} ${model}`}
          layoutKey="margins-table-columns"
          columns={columns}
          filters={<h2>{t('reconciliation.margin.byChannel')}</h2>}
          moreText={t('audit.loadMore')}
          empty={
            <EmptyState
              icon="chart"
              title={t('reconciliation.margin.none')}
              body={t('reconciliation.margin.noneLead')}
            />
          }
        />
      )}
    </>
  )
}

/**
 * Selects a whole month or a range of days. If the user enters a first day after the last day, the
 * last day is set to the new first day. If the user enters a last day before the first day, the
 * first day is set to the new last day.
 */
function DaysInput(props: { days: Days; onDays: (days: Days) => void }) {
  const { t } = useTranslation()
  const { first, last } = props.days
  const set = (days: Days): void => {
    if (dayParam.read(days.first) !== null && dayParam.read(days.last) !== null) props.onDays(days)
  }
  return (
    <>
      <MonthInput month={last.slice(0, 7)} onMonth={(month) => set(daysOfMonth(month))} />
      <span className="tg-audit-days">
        <DayInput
          label={t('reconciliation.margin.firstDay')}
          day={first}
          onDay={(day) => set({ first: day, last: last < day ? day : last })}
        />
        –
        <DayInput
          label={t('reconciliation.margin.lastDay')}
          day={last}
          onDay={(day) => set({ first: first > day ? day : first, last: day })}
        />
      </span>
    </>
  )
}

const DayInput = (props: { label: string; day: string; onDay: (day: string) => void }) => (
  <input
    type="date"
    className="tg-input"
    aria-label={props.label}
    value={props.day}
    onChange={({ currentTarget: { value } }) => props.onDay(value)}
  />
)

function MarginSums({ margins }: { margins: Margins }) {
  const { t } = useTranslation()
  const { total, overlapping_channels: overlapping, out_of_range_channels: refused } = margins
  return (
    <>
      <Figures
        figures={[
          [t('reconciliation.figure.charged'), <ExactQuota key="charged" value={total.charged} />],
          [t('reconciliation.invoice.billed'), <ExactQuota key="billed" value={total.billed} />],
          [t('reconciliation.invoice.cost'), <ExactQuota key="rest" value={total.expected} />],
          [t('reconciliation.margin.uncosted'), <ExactQuota key="none" value={total.uncosted} />],
          [t('shared.margin'), <Margin key="margin" {...total} />],
        ]}
      />
      {overlapping.length > 0 && (
        <Alert>
          {t('reconciliation.margin.overlap', {
            channels: overlapping.map((id) => `#${id}`).join(', '),
          })}
        </Alert>
      )}
      {refused.length > 0 && (
        <Alert tone="bad">
          {t('reconciliation.margin.outOfRange', {
            channels: refused.map((id) => `#${id}`).join(', '),
          })}
        </Alert>
      )}
      {total.calls > 0 && total.invoiced === 0 && total.billed === 0 && <NoInvoices />}
    </>
  )
}

/**
 * Explains that all costs are computed from the cost ratios of the channels, because there are no
 * invoices.
 */
function NoInvoices() {
  const { t } = useTranslation()
  return (
    <p className="tg-reconciliation-note">
      {t('reconciliation.margin.noInvoices')}{' '}
      <ButtonLink to="?tab=invoices">{t('reconciliation.invoice.back')}</ButtonLink>
    </p>
  )
}

const marginColumns = (t: TFunction, number: Intl.NumberFormat): Column<MarginItem>[] => [
  column('model', t('ui.model'), 150, ({ model }) => model, TITLE_COLUMN),
  column('channel', t('shared.channel'), 182, channelOf, { onCard: 'aside' }),
  numberColumn('calls', t('shared.calls'), 76, ({ calls }) => number.format(calls)),
  costs('charged', t('reconciliation.figure.charged'), ({ charged }) => charged),
  costs('billed', t('reconciliation.invoice.billed'), ({ billed }) => billed),
  costs('expected', t('reconciliation.invoice.cost'), ({ expected }) => expected),
  costs('uncosted', t('reconciliation.margin.uncosted'), ({ uncosted }) => uncosted),
  numberColumn('margin', t('shared.margin'), 164, (item) => <Margin {...item} />),
]

const channelOf = ({ channel_id: id, channel_name: name }: MarginItem): string =>
  name === '' ? `#${id}` : `${name} (#${id})`

/**
 * A column of amounts that shows 0 as a dash. The costs of a row usually come from one source,
 * either invoices or cost ratios. The amounts from the other source are then 0.
 */
const costs = (id: string, title: string, read: (item: MarginItem) => number): Column<MarginItem> =>
  quotaColumn(id, title, 110, (item) => read(item) || null)
