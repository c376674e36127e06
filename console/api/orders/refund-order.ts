import type { RefundOrder } from '#write-api/contract/top-up.ts'
import { request } from '../request.ts'

/** Records that an order, or a part of it, was refunded. */
export async function refundOrder(orderId: number, refund: RefundOrder): Promise<void> {
  await request({ method: 'POST', path: `/api/user/topup/${orderId}/refund`, body: refund })
}
