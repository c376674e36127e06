import { useTranslation } from 'react-i18next'
import type { Order } from '#read-api/contract/top-ups.ts'
import { StatusTag, type Tone } from './status-tag.tsx'

export const hasRefundableMoney = ({ refundable }: Pick<Order, 'refundable'>): boolean =>
  /[1-9]/.test(refundable)

/**
 * Converts the status of a dispute at Stripe to its outcome. Returns null while the dispute is
 * open.
 */
export function disputeOutcome(status: string): 'won' | 'lost' | 'closed' | null {
  if (status === 'won' || status === 'lost') return status
  return status === 'warning_closed' || status === 'prevented' ? 'closed' : null
}

type Status = Order['status'] | 'partly' | 'disputed' | 'disputeLost'

const TONES: Readonly<Record<Status, Tone>> = {
  pending: 'warn',
  paid: 'good',
  refunded: 'neutral',
  partly: 'warn',
  disputed: 'bad',
  disputeLost: 'neutral',
}

/** Shows the status of an order. An open or lost dispute takes precedence over a refund. */
export function OrderStatus({ order }: { order: Order }) {
  const { t } = useTranslation()
  const status = statusOf(order)
  return <StatusTag tone={TONES[status]}>{t(`wallet.status_${status}`)}</StatusTag>
}

function statusOf(order: Order): Status {
  const disputes = order.reports.filter(({ kind }) => kind === 'dispute')
  const latest = new Map(disputes.map(({ report_id, status }) => [report_id, status]))
  const outcomes = [...latest.values()].map(disputeOutcome)
  if (outcomes.includes(null)) return 'disputed'
  if (outcomes.includes('lost')) return 'disputeLost'
  return order.status === 'refunded' && hasRefundableMoney(order) ? 'partly' : order.status
}
