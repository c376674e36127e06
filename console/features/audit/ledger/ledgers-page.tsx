import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { apiQuery } from '#console/api/client.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { Account, SiteMonth } from '#read-api/contract/ledger.ts'
import { QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { CursorList } from '../elements/cursor-list.tsx'
import { Facts, SumTable } from '../elements/small-tables.tsx'
import { quotaColumn } from '../elements/time-and-amount-columns.tsx'
import { userText } from '../elements/user-names.ts'
import { currentMonth, MonthInput, monthName, monthParam } from '../elements/utc-month.tsx'
import { accountsQuery } from './ledger-queries.ts'
import '../audit.css'
import './ledger.css'

const URL_PARAMS = { month: monthParam, search: textParam() }

export const LedgersPage = auditorsOnlyPage('shell.ledgers', Ledgers)

/** Lists the accounts of all users, and shows the totals of the whole site for a month. */
function Ledgers() {
  const { t } = useTranslation()
  const locale = useLocale()
  const [values, set] = useUrlState(URL_PARAMS)
  const month = values.month === '' ? currentMonth() : values.month
  const query = useQuery(apiQuery('GET /api/audit/site-month', { query: { month } }))
  return (
    <Page title={t('shell.ledgers')} lead={t('audit.siteMonth.lead')}>
      <AccountList search={values.search} onSearch={(search) => set({ search })} />
      <Panel
        title={t('audit.siteMonth.title', { month: monthName(month, locale) })}
        actions={<MonthInput month={month} onMonth={(next) => set({ month: next })} />}
      >
        <QueryView query={query} height={320}>
          {(data) => <SiteMonthTables data={data} />}
        </QueryView>
      </Panel>
    </Page>
  )
}

const FIGURES = [
  ...(['sold', 'refunded', 'redeemed', 'gifts', 'checked_in', 'transferred'] as const),
  ...(['rebates_returned', 'adjusted', 'deducted', 'charged'] as const),
]

type NamedChannel = Pick<SiteMonth['by_channel'][number], 'channel_id' | 'channel_name'>

/**
 * Returns the name of a channel with its id, because two channels can have the same name. The id is
 * 0 for calls without a channel, such as a call that was interrupted early.
 */
function channelText(t: TFunction, { channel_id: id, channel_name: name }: NamedChannel): string {
  if (id === 0) return t('audit.siteMonth.noChannel')
  return name === '' ? `#${id}` : `${name} (#${id})`
}

function SiteMonthTables({ data }: { data: SiteMonth }) {
  const { t } = useTranslation()
  const byChannel = data.by_channel.map((row) => ({ ...row, name: channelText(t, row) }))
  const byModel = data.by_model.map((row) => ({ ...row, name: row.model }))
  return (
    <>
      <Facts
        facts={FIGURES.map((name) => [
          t(`audit.siteMonth.${name}`),
          <QuotaChange key={name} value={data[name]} />,
        ])}
      />
      <div className="tg-ledger-tables">
        <SumTable
          title={t('audit.siteMonth.byChannel')}
          head={t('shared.channel')}
          rows={byChannel}
        />
        <SumTable title={t('shared.byModel')} head={t('ui.model')} rows={byModel} />
      </div>
    </>
  )
}

/** Lists the accounts of all users by name. Each name links to the ledger of the account. */
function AccountList(props: { search: string; onSearch: (search: string) => void }) {
  const { t } = useTranslation()
  const query = useInfiniteQuery(accountsQuery(props.search))
  const columns = useMemo(() => accountColumns(t), [t])
  return (
    <CursorList
      label={t('audit.accounts.title')}
      query={query}
      rowKey={rowKey}
      layoutKey="accounts-table-columns"
      columns={columns}
      moreText={t('audit.loadMore')}
      filters={
        <search className="tg-ledger-search">
          <FilterInput
            label={t('audit.accounts.search')}
            value={props.search}
            onCommit={props.onSearch}
          />
        </search>
      }
      empty={
        <EmptyState
          icon="search"
          title={t('audit.accounts.none')}
          body={t('audit.accounts.noneLead')}
        />
      }
    />
  )
}

const rowKey = ({ user_id: id }: Account): string => String(id)

const accountColumns = (t: TFunction): Column<Account>[] => [
  column(
    'user',
    t('shared.user'),
    220,
    ({ user_id: id, username }) => (
      <Link to={`/app/audit/ledgers/${id}`}>{userText(t, id, username)}</Link>
    ),
    { ...TITLE_COLUMN, isGrowing: true },
  ),
  quotaColumn('total', t('audit.ledger.total'), 160, ({ total }) => total),
  quotaColumn('balance', t('audit.ledger.spendable'), 160, ({ balance }) => balance),
  quotaColumn('held', t('audit.ledger.held'), 140, ({ held }) => held, HIDDEN_COLUMN),
]
