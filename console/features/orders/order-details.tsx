import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { isAuditor, useUser } from '#console/api/session.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { HistoryLink } from '#console/ui/elements/history-link.tsx'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import type { Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { exactQuotaText, moneyText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'
import { type OrderEvent, refundAndDisputeEvents } from './refund-and-dispute-events.ts'

/**
 * The codes of reasons that the console translates. Stripe uses these codes for the reasons of
 * refunds and disputes.
 */
const REASONS = [
  'bank_cannot_process',
  'credit_not_processed',
  'customer_initiated',
  'debit_not_authorized',
  'duplicate',
  'fraudulent',
  'general',
  'insufficient_funds',
  'product_not_received',
  'product_unacceptable',
  'requested_by_customer',
  'subscription_canceled',
  'unrecognized',
] as const

const STATUSES = [
  'needs_response',
  'under_review',
  'warning_needs_response',
  'warning_under_review',
] as const

function paymentReasonText(t: TFunction, code: string): string {
  const knownCode = REASONS.find((one) => one === code)
  return knownCode === undefined ? code : t(`orders.reason_${knownCode}`)
}

function disputeStatusText(t: TFunction, code: string): string {
  const knownCode = STATUSES.find((one) => one === code)
  return knownCode === undefined ? code : t(`orders.dispute_${knownCode}`)
}

export function OrderDetails({ order }: { order: Order }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const rule = useMoneyRule()
  const mayReadHistory = isAuditor(useUser())
  const sum = (money: string): string => moneyText(money, order.currency, locale)
  const facts: [string, string][] = [
    [t('orders.tradeNo'), order.trade_no],
    [t('orders.paymentId'), order.payment_id],
    [t('shared.paymentMethod'), t(`wallet.method_${order.payment_method}`)],
    [t('shared.topUpCode'), order.top_up_code],
    [
      t('orders.rebate'),
      order.rebate_quota === 0 ? '' : exactQuotaText(quotaOf(order.rebate_quota), rule),
    ],
    [t('orders.refundable'), order.paid_at === null ? '' : sum(order.refundable)],
  ]
  return (
    <div className="tg-order-details">
      <dl>
        {facts
          .filter(([, text]) => text !== '')
          .map(([title, text]) => (
            <LabelledValue key={title} name={title} className="tg-mono">
              {text}
            </LabelledValue>
          ))}
        {order.paid_at !== null && (
          <LabelledValue name={t('orders.paidAt')}>{stamp(order.paid_at)}</LabelledValue>
        )}
      </dl>
      {mayReadHistory && <HistoryLink object={`order:${order.id}`} />}
      <Timeline order={order} />
    </div>
  )
}

function Timeline({ order }: { order: Order }) {
  const { t } = useTranslation()
  const events = refundAndDisputeEvents(order)
  if (events.length === 0) return null
  return (
    <section className="tg-order-timeline">
      <h2>{t('orders.timeline')}</h2>
      <ol>
        {events.map((event, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: new lines are only added at the end
          <li key={index}>
            <Time at={event.at} style="stamp" />
            <TimelineEntry event={event} currency={order.currency} />
          </li>
        ))}
      </ol>
    </section>
  )
}

const TONES: Readonly<Partial<Record<OrderEvent['kind'], Tone>>> = {
  disputeOpened: 'bad',
  disputeLost: 'bad',
  fundsWithdrawn: 'warn',
  deducted: 'warn',
  recorded: 'warn',
  refundFailed: 'warn',
  disputeWon: 'good',
  fundsReinstated: 'good',
  restored: 'good',
}

function TimelineEntry(props: { event: OrderEvent; currency: string }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const rule = useMoneyRule()
  const { kind, money, quota, sourceId, reason, status, dueBy, actor } = props.event
  const values = {
    money: moneyText(money, props.currency, locale),
    quota: exactQuotaText(quotaOf(quota), rule),
    name: actor,
  }
  const reasonText = kind === 'recorded' ? reason : paymentReasonText(t, reason)
  const details = [
    status === '' ? '' : disputeStatusText(t, status),
    reason === '' ? '' : t('orders.eventReason', { reason: reasonText }),
  ].filter((text) => text !== '')
  const tone = TONES[kind] ?? 'neutral'
  return (
    <div>
      <p>
        <span className={`tg-mark tg-mark-${tone}`} aria-hidden="true" />
        {t(`orders.event_${kind}`, values)}
      </p>
      {(details.length > 0 || dueBy !== null || sourceId !== '') && (
        <p className="tg-order-timeline-more">
          {details.map((text) => (
            <span key={text}>{text}</span>
          ))}
          {dueBy !== null && (
            <span>
              {t('orders.eventDue')} <Time at={dueBy} style="stamp" mayBeInFuture />
            </span>
          )}
          {sourceId !== '' && <code>{sourceId}</code>}
        </p>
      )}
    </div>
  )
}
