import { useInfiniteQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import type { Account } from '#read-api/contract/ledger.ts'
import { quotaColumn } from '../elements/columns.tsx'
import { CursorList } from '../elements/cursor-list.tsx'
import { userText } from '../elements/user-and-actor-text.ts'
import { accountsQuery } from './ledger-queries.ts'

/** Lists the accounts of all users by name, with links to their ledgers. */
export function AccountList(props: { search: string; onSearch: (search: string) => void }) {
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
