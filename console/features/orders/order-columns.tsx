import type { TFunction } from 'i18next'
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
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { moneyText } from '#console/ui/quota/currency-text.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'

export function orderColumns(
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
      t('orders.money'),
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
