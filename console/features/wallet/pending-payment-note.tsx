import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ownOrdersQuery } from '#console/api/own-orders-and-payment.ts'
import { selfKey } from '#console/api/own-user-group-and-model-queries.ts'
import type { ListPage } from '#console/api/request.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'
import { creditsKey } from './use-balance-and-credits.ts'
import { pendingOrder, removeStoredOrder } from './use-top-up.ts'

const POLL_INTERVAL_MS = 5_000
/**
 * The maximum number of polls of the orders, one every 5 s. A later payment is shown only when a
 * live event reports it.
 */
const POLLS_MAX = 60
/** An unpaid order is considered abandoned after this many seconds. */
const ABANDONED_AFTER_SECONDS = 3_600

export function PendingPaymentNote() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const rule = useMoneyRule()
  const [id] = useState(pendingOrder)
  const findOrder = (page: ListPage<Order> | undefined) =>
    page?.items.find((order) => order.id === id)
  const { data } = useQuery({
    ...ownOrdersQuery(0),
    enabled: id !== null,
    refetchInterval: ({ state }) =>
      isAwaitingPayment(findOrder(state.data)) && state.dataUpdateCount < POLLS_MAX
        ? POLL_INTERVAL_MS
        : false,
  })
  const order = findOrder(data)
  const isPaid = order?.status === 'paid'
  const amount = order === undefined ? '' : exactQuotaText(quotaOf(order.quota), rule)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new language must not run it again
  useEffect(() => {
    if (!isPaid || id === null || !removeStoredOrder(id)) return
    showSuccess(t('wallet.paymentReceived', { amount }))
    void client.invalidateQueries({ queryKey: selfKey })
    void client.invalidateQueries({ queryKey: creditsKey })
  }, [isPaid, id])
  return (
    <div role="status" className="tg-wallet-note">
      {isPaid && (
        <p className="tg-wallet-given">
          <Icon name="check" size={14} />
          {t('wallet.orderPaid', { id: order.id, amount })}
        </p>
      )}
      {isAwaitingPayment(order) && (
        <p className="tg-wallet-awaited">
          <Icon name="info" size={14} />
          {t('wallet.orderUnconfirmed', { id: order.id })}
        </p>
      )}
    </div>
  )
}

const isAwaitingPayment = (order: Order | undefined): order is Order =>
  order?.status === 'pending' && Date.now() / 1_000 - order.created_at < ABANDONED_AFTER_SECONDS
