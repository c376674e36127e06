import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ORDERS_PER_PAGE, ownOrdersQuery } from '#console/api/own-orders-and-payment.ts'
import { type Sort, sortParams } from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { OrderStatus } from '#console/ui/elements/order-status.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { SortSelect } from '#console/ui/lists/select-filter.tsx'
import { exactQuotaText, moneyText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { useLiveRefetch } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { Order } from '#read-api/contract/top-ups.ts'

const REFETCH_INTERVAL_MIN_MS = 500

export function OrdersPanel() {
  const { t } = useTranslation()
  const [page, setPage] = useState(0)
  const [sort, setSort] = useState<Sort | null>(null)
  const { data, refetch } = useQuery(ownOrdersQuery(page, sort === null ? {} : sortParams(sort)))
  // Reloads the orders after each payment (log type 1) and refund (log type 3).
  useLiveRefetch(
    'logs',
    REFETCH_INTERVAL_MIN_MS,
    () => void refetch(),
    ({ type }) => type === 1 || type === 3,
  )
  if (data === undefined || data.total === 0) return null
  const selectSort = (next: Sort | null) => {
    setSort(next)
    setPage(0)
  }
  const isLast = (page + 1) * ORDERS_PER_PAGE >= data.total
  return (
    <Panel
      title={t('shell.orders')}
      lead={t('wallet.ordersLead')}
      actions={data.total > 1 && <OrderSort sort={sort} onSort={selectSort} />}
    >
      <ul className="tg-wallet-gains tg-orders">
        {data.items.map((order) => (
          <OrderRow key={order.id} order={order} />
        ))}
      </ul>
      {(page > 0 || !isLast) && (
        <div className="tg-orders-foot">
          <Button
            icon="chevronLeft"
            label={t('wallet.newer')}
            isDisabled={page === 0}
            onClick={() => setPage(page - 1)}
          />
          <Button
            icon="chevronRight"
            label={t('wallet.older')}
            isDisabled={isLast}
            onClick={() => setPage(page + 1)}
          />
        </div>
      )}
    </Panel>
  )
}

type SortProps = { sort: Sort | null; onSort: (sort: Sort | null) => void }

function OrderSort({ sort, onSort }: SortProps) {
  const { t } = useTranslation()
  const orders = [
    { sort: { column: 'created_at', isDescending: false }, label: t('shared.oldestFirst') },
    { sort: { column: 'money', isDescending: true }, label: t('wallet.highestFirst') },
    { sort: { column: 'money', isDescending: false }, label: t('wallet.lowestFirst') },
    { sort: { column: 'status', isDescending: false }, label: t('wallet.unpaidFirst') },
  ]
  return <SortSelect orders={orders} sort={sort} onSort={onSort} />
}

function OrderRow({ order }: { order: Order }) {
  const { t, i18n } = useTranslation()
  const sum = (money: string): string => moneyText(money, order.currency, i18n.language)
  return (
    <li>
      <span className="tg-wallet-reason">
        {t('wallet.order', { id: order.id })} · ${order.amount}
        {order.top_up_code === '' ? '' : ` · ${order.top_up_code}`}
      </span>
      <span className="tg-orders-money">{sum(order.money)}</span>
      <span className="tg-wallet-when">
        <Time at={order.created_at} /> · {t(`wallet.method_${order.payment_method}`)}
      </span>
      <span className="tg-orders-status">
        <OrderStatus order={order} />
      </span>
      <Movements order={order} />
    </li>
  )
}

function Movements({ order }: { order: Order }) {
  const { t, i18n } = useTranslation()
  const rule = useMoneyRule()
  const amountTexts = ({ money, quota }: { money: string; quota: number }) => ({
    money: moneyText(money, order.currency, i18n.language),
    quota: exactQuotaText(quotaOf(quota), rule),
  })
  const refunds = order.refunds.map((refund) => {
    const { source, reason, created_at: at } = refund
    const text =
      source === 'admin'
        ? t('wallet.refundedOf', { money: amountTexts(refund).money, reason })
        : t(
            source === 'refund' ? 'wallet.refundedByProvider' : 'wallet.disputeWithdrawn',
            amountTexts(refund),
          )
    return { key: `refund-${refund.refund_no}`, at, text }
  })
  const restorations = order.restorations.map((restoration, index) => {
    const isDispute = restoration.source === 'dispute'
    const key = isDispute ? 'wallet.disputeReversed' : 'wallet.refundReversed'
    const text = t(key, amountTexts(restoration))
    return { key: `restoration-${index}`, at: restoration.created_at, text }
  })
  return (
    <>
      {[...refunds, ...restorations]
        .toSorted((a, b) => a.at - b.at)
        .map(({ key, text }) => (
          <span key={key} className="tg-orders-refund">
            {text}
          </span>
        ))}
    </>
  )
}
