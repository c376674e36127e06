import { keepPreviousData } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import {
  actionsColumn,
  type Column,
  column,
  NUMBER_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { hasRefundableMoney, OrderStatus } from '#console/ui/elements/order-status.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { type ListQuery, listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { StatusFilter } from '#console/ui/lists/select-filter.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { moneyText, quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import { useLiveRefetch } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { textParam } from '#console/ui/state/url-state.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import { OrderDetails } from './order-details.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import '#console/ui/forms/forms.css'
import './orders.css'

export const OrdersPage = adminPage('shell.orders', Orders)

function Orders() {
  const { t } = useTranslation()
  const [refunded, setRefunded] = useState<Order | null>(null)
  return (
    <Page title={t('shell.orders')} lead={t('orders.lead')}>
      <OrderList onRefund={setRefunded} />
      {refunded !== null && (
        <RefundDialog key={refunded.id} order={refunded} onClose={() => setRefunded(null)} />
      )}
    </Page>
  )
}

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
 * The types of log rows that can report a change of an order. Type 1 is a top-up, such as a
 * payment. Type 3 includes the deduction of quota for a refund or a dispute, and the return of this
 * quota.
 */
const MOVEMENTS: readonly number[] = [1, 3]

function OrderList({ onRefund }: { onRefund: (order: Order) => void }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const view = useOrderList()
  useLiveRefetch('logs', REFETCH_INTERVAL_MIN_MS, view.refresh, ({ type }) =>
    MOVEMENTS.includes(type),
  )
  const columns = useMemo(() => orderColumns(t, locale, onRefund), [t, locale, onRefund])
  // Expands the order whose number the user has searched for. Notices about disputes link to such
  // searches.
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

function orderColumns(
  t: TFunction,
  locale: string,
  onRefund: (order: Order) => void,
): Column<Order>[] {
  const money = (sum: string, currency: string) => (
    <AmountText text={moneyText(sum, currency, locale)} />
  )
  const refunded = (order: Order) =>
    order.refunded === '0.00' ? '–' : money(order.refunded, order.currency)
  const methodText = ({ payment_method: method }: Order) => t(`wallet.method_${method}`)
  return [
    column('id', t('orders.id'), 64, ({ id }) => `#${id}`, { onCard: 'bare' }),
    column(
      'username',
      t('shared.user'),
      140,
      (order) => order.username || `#${order.user_id}`,
      TITLE_COLUMN,
    ),
    column('status', t('shared.status'), 140, (order) => <OrderStatus order={order} />, {
      onCard: 'aside',
    }),
    column(
      'money',
      t('shared.amount'),
      110,
      (order) => money(order.money, order.currency),
      NUMBER_COLUMN,
    ),
    column('refunded', t('orders.refundedMoney'), 110, refunded, NUMBER_COLUMN),
    column(
      'quota',
      t('shared.quota'),
      110,
      ({ quota }) => <Quota value={quotaOf(quota)} />,
      NUMBER_COLUMN,
    ),
    column('method', t('shared.paymentMethod'), 120, methodText, { isHiddenAtFirst: true }),
    column('created', t('orders.created'), 178, ({ created_at }) => stamp(created_at), {
      agoCell: ({ created_at }) => <Time at={created_at} />,
    }),
    actionsColumn(t, 104, (order) =>
      hasRefundableMoney(order) ? (
        <Button size="small" onClick={() => onRefund(order)}>
          {t('orders.refund')}
        </Button>
      ) : null,
    ),
  ]
}
