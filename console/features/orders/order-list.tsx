import { keepPreviousData } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { useLocale } from '#console/i18n/use-locale.ts'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { type ListQuery, listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { StatusFilter } from '#console/ui/lists/select-filter.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { textParam } from '#console/ui/state/url-state.ts'
import { useLiveRefetch } from '#console/ui/state/use-live-refetch.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import { orderColumns } from './order-columns.tsx'
import { OrderDetails } from './order-details.tsx'

const SORTS = {
  id: 'id',
  username: 'username',
  status: 'status',
  money: 'money',
  refunded: 'refunded',
  quota: 'quota',
  method: 'payment_method',
  created: 'created_at',
}

const URL_PARAMS = listUrlParams(
  { keyword: textParam(), status: textParam() },
  { sorts: SORTS, isKeyset: true },
)
const REFETCH_INTERVAL_MIN_MS = 1_000
/**
 * The types of log rows that report a change of an order: 1 is a payment, and 3 is a refund or the
 * return of quota that was deducted for a refund.
 */
const MOVEMENTS: readonly number[] = [1, 3]

export function OrderList({ onRefund }: { onRefund: (order: Order) => void }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const view = useOrderList()
  useLiveRefetch('logs', REFETCH_INTERVAL_MIN_MS, view.refresh, ({ type }) =>
    MOVEMENTS.includes(type),
  )
  const columns = useMemo(() => orderColumns(t, locale, onRefund), [t, locale, onRefund])
  // Expands the order whose number the user has searched for. Notices about disputes link to such a
  // search.
  const linked = view.rows.find(({ trade_no }) => trade_no === view.filter.keyword)
  return (
    <ListPanel
      label={t('shell.orders')}
      view={view}
      layoutKey="orders-table-columns"
      columns={columns}
      rowKey={rowId}
      filters={<OrderFilters view={view} />}
      isClearable
      none={{ icon: 'wallet', title: t('orders.none'), body: t('orders.noneLead') }}
      notFound={{ title: t('orders.notFound'), body: t('ui.tryAnotherWord') }}
      isMuted={isMuted}
      isLastColumnSticky
      expand={details}
      openKey={linked === undefined ? undefined : rowId(linked)}
    />
  )
}
const isMuted = (order: Order): boolean => order.status === 'pending'
const details = (order: Order) => <OrderDetails order={order} />

const useOrderList = () => useListPage(URL_PARAMS, allOrdersQuery)

function OrderFilters({ view }: { view: ReturnType<typeof useOrderList> }) {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('orders.search')} view={view} />
      <StatusFilter
        value={view.filter.status}
        choices={[
          { value: 'pending', label: t('wallet.status_pending') },
          { value: 'paid', label: t('wallet.status_paid') },
          { value: 'refunded', label: t('orders.anyRefund') },
          { value: 'disputed', label: t('orders.anyDispute') },
        ]}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

const allOrdersQuery = ({ page, pageSize, ...rest }: ListQuery<typeof URL_PARAMS.filters>) => {
  const query = { ...rest, p: page, page_size: pageSize }
  return {
    ...apiQuery('GET /api/user/topup', { query }, ['orders', 'all', query]),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: 'always' as const,
  }
}
