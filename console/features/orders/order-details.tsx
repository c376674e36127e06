import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale.ts'
import { moneyText } from '#console/ui/currency-text.ts'
import { exactQuotaText, quotaOf } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { Time } from '#console/ui/time.tsx'
import type { Order } from '#read-api/contract/top-up.ts'

/** By what an order is found at the provider, and what was given back of it. */
export function OrderDetails({ order }: { order: Order }): ReactElement {
  const { t } = useTranslation()
  const locale = useLocale()
  const rule = useMoneyRule()
  const sum = (money: string): string => moneyText(money, order.currency, locale)
  const facts: [string, string][] = [
    [t('orders.tradeNo'), order.trade_no],
    [t('orders.paymentId'), order.payment_id],
    [t('orders.code'), order.top_up_code],
    [
      t('orders.rebate'),
      order.rebate_quota === 0 ? '' : exactQuotaText(quotaOf(order.rebate_quota), rule),
    ],
    [t('orders.left'), order.paid_at === null ? '' : sum(order.refundable)],
  ]
  return (
    <div className="tg-order-details">
      <dl>
        {facts
          .filter(([, text]) => text !== '')
          .map(([title, text]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd className="tg-mono">{text}</dd>
            </div>
          ))}
        {order.paid_at !== null && (
          <div>
            <dt>{t('orders.paidAt')}</dt>
            <dd>
              <Time at={order.paid_at} style="stamp" />
            </dd>
          </div>
        )}
      </dl>
      {order.refunds.length > 0 && (
        <ul>
          {order.refunds.map((refund) => (
            <li key={refund.refund_no}>
              {t('orders.refundedBy', {
                money: sum(refund.money),
                quota: exactQuotaText(quotaOf(refund.quota), rule),
                name: refund.actor_name || `#${refund.actor_id}`,
                reason: refund.reason,
              })}{' '}
              <Time at={refund.created_at} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
