import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/button.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Select } from '#console/ui/inputs.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'
import { orderColumns } from './order-columns.tsx'
import { OrderDetails } from './order-details.tsx'
import { type OrderListView, useOrderList } from './use-order-list.ts'

/** Orders, filtered, page by page; a row opens to its numbers and timeline. */
export function OrderList({ onRefund }: { onRefund: (order: Order) => void }): ReactElement {
  const { t } = useTranslation()
  const locale = useLocale()
  const view = useOrderList()
  const { list, paging, rows } = view
  const columns = useMemo(() => orderColumns(t, locale, onRefund), [t, locale, onRefund])
  const layout = useColumnLayout('orders-table-columns', columns)
  // A link to one order, as in the notice of a dispute, names its number: its details are open.
  const linked = rows.find(({ trade_no }) => trade_no === view.filter.keyword)
  const openKey = linked === undefined ? undefined : rowKey(linked)
  const refresh = (): void => void list.refetch()
  return (
    <ListPanel
      label={t('orders.title')}
      list={list}
      rows={rows}
      rowKey={rowKey}
      layout={layout}
      paging={paging}
      filtersLabel={t('orders.filters')}
      filters={<OrderFilters view={view} />}
      refreshText={t('orders.refresh')}
      onRefresh={refresh}
      isMuted={isMuted}
      isEnded
      expand={details}
      openKey={openKey}
      empty={<NoOrders view={view} />}
    />
  )
}

const rowKey = (order: Order): string => String(order.id)
const isMuted = (order: Order): boolean => order.status === 'pending'
const details = (order: Order): ReactElement => <OrderDetails order={order} />

function OrderFilters({ view }: { view: OrderListView }): ReactElement {
  const { t } = useTranslation()
  const { filter, isFiltered, setFilter, clear } = view
  return (
    <>
      <SearchInput
        icon="search"
        label={t('orders.search')}
        value={filter.keyword}
        onChange={(keyword) => setFilter({ keyword }, { isTyping: true })}
      />
      <Select
        aria-label={t('orders.status')}
        value={filter.status}
        choices={[
          { value: '', label: t('orders.anyStatus') },
          { value: 'pending', label: t('wallet.status_pending') },
          { value: 'paid', label: t('wallet.status_paid') },
          { value: 'refunded', label: t('orders.anyRefund') },
          { value: 'disputed', label: t('orders.anyDispute') },
        ]}
        onChange={(status) => setFilter({ status })}
      />
      {isFiltered && (
        <Button tone="quiet" icon="close" onClick={clear}>
          {t('orders.clear')}
        </Button>
      )}
    </>
  )
}

function NoOrders({ view }: { view: OrderListView }): ReactElement {
  const { t } = useTranslation()
  if (!view.isFiltered) {
    return <EmptyState icon="wallet" title={t('orders.none')} body={t('orders.noneLead')} />
  }
  return (
    <EmptyState
      icon="search"
      title={t('orders.notFound')}
      body={t('orders.notFoundLead')}
      action={<Button onClick={view.clear}>{t('orders.clear')}</Button>}
    />
  )
}
