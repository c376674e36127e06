import type { Pay } from '#write-api/contract/top-up.ts'
import { request } from '../request.ts'

/** Where to pay: a form to send to `url`, or without fields a page to go to. */
export type PaymentPage = { fields: Readonly<Record<string, string>>; url: string }

/** Orders a top-up. */
export async function pay(order: Pay): Promise<PaymentPage> {
  const call = { method: 'POST', path: '/api/user/pay', body: order } as const
  const { data, envelope } = await request<Record<string, string>>(call)
  return { fields: data, url: String(envelope.url ?? '') }
}
