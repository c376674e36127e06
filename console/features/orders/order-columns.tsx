import type { TFunction } from 'i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { hasMoneyLeft, OrderStatus } from '#console/ui/elements/order-status.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { moneyText } from '#console/ui/quota/currency-text.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'

const Amount = ({ text }: { text: string }) => <span className="tg-amount">{text}</span>

export function orderColumns(
  t: TFunction,
  locale: string,
  onRefund: (order: Order) => void,
): Column<Order>[] {
  return [
    column('id', t('orders.id'), { width: 64, onCard: 'bare', cell: ({ id }) => `#${id}` }),
    column('username', t('words.user'), {
      width: 140,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: ({ username, user_id }) => username || `#${user_id}`,
    }),
    column('status', t('words.status'), {
      width: 140,
      onCard: 'aside',
      cell: (order) => <OrderStatus order={order} />,
    }),
    column('money', t('orders.money'), {
      align: 'end',
      onCard: 'brief',
      cell: ({ money, currency }) => <Amount text={moneyText(money, currency, locale)} />,
    }),
    column('refunded', t('orders.refundedMoney'), {
      align: 'end',
      onCard: 'brief',
      cell: ({ refunded, currency }) =>
        refunded === '0.00' ? '–' : <Amount text={moneyText(refunded, currency, locale)} />,
    }),
    column('quota', t('words.quota'), {
      align: 'end',
      onCard: 'brief',
      cell: ({ quota }) => <Quota value={quotaOf(quota)} />,
    }),
    column('method', t('orders.method'), {
      width: 120,
      isHiddenAtFirst: true,
      cell: ({ payment_method: method }) => t(`wallet.method_${method}`),
    }),
    column('created', t('orders.created'), {
      width: 178,
      cell: ({ created_at }) => <Time at={created_at} style="stamp" />,
      agoCell: ({ created_at }) => <Time at={created_at} />,
    }),
    column('actions', t('words.actions'), {
      width: 104,
      isPinned: true,
      align: 'end',
      onCard: 'foot',
      cell: (order) =>
        hasMoneyLeft(order) ? (
          <Button size="small" onClick={() => onRefund(order)}>
            {t('orders.refund')}
          </Button>
        ) : null,
    }),
  ]
}

const column = (id: string, title: string, rest: Partial<Column<Order>>): Column<Order> => ({
  ...{ id, title, width: 110, cell: () => null },
  ...rest,
})
