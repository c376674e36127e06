import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { Order } from '#read-api/contract/top-up.ts'
import { StatusTag, type Tone } from './status-tag.tsx'

/** Of what was paid, something can still be given back. */
export const hasMoneyLeft = ({ refundable }: Pick<Order, 'refundable'>): boolean =>
  /[1-9]/.test(refundable)

const TONES: Readonly<Record<Order['status'] | 'partly', Tone>> = {
  pending: 'warn',
  paid: 'good',
  refunded: 'neutral',
  partly: 'warn',
}

/** What became of an order; one that was refunded in part says so. */
export function OrderStatus({ order }: { order: Order }): ReactElement {
  const { t } = useTranslation()
  const status = order.status === 'refunded' && hasMoneyLeft(order) ? 'partly' : order.status
  return <StatusTag tone={TONES[status]}>{t(`wallet.status_${status}`)}</StatusTag>
}
