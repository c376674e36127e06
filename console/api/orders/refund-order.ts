import type { Order } from '#read-api/contract/top-up.ts'
import type { RefundOrder } from '#write-api/contract/top-up.ts'
import { request } from '../request.ts'

/** Records that an order, or a part of it, was refunded; once for the order as it is seen. */
export async function refundOrder(order: Order, money: string, reason: string): Promise<void> {
  const body: RefundOrder = { money, reason, refunds: order.refunds.length }
  await request({ method: 'POST', path: `/api/user/topup/${order.id}/refund`, body })
}
