import { keepPreviousData } from '@tanstack/react-query'
import type { Pay } from '#write-api/contract/top-ups.ts'
import { apiQuery, callForEnvelope } from './client.ts'
import type { ListSort } from './request.ts'

export const ordersKey = ['orders'] as const
export const ORDERS_PER_PAGE = 5

export function ownOrdersQuery(page: number, order: ListSort = {}) {
  const query = { p: page, page_size: ORDERS_PER_PAGE, ...order }
  return {
    ...apiQuery('GET /api/user/topup/self', { query }, [...ordersKey, 'own', query]),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always' as const,
  }
}

/**
 * The page of a payment provider. If there are `fields`, the browser must post them to `url` as a
 * form. Otherwise, the browser opens `url`.
 */
export type PaymentPage = { fields: Readonly<Record<string, string>>; url: string }

export async function pay(body: Pay): Promise<PaymentPage> {
  const { data, envelope } = await callForEnvelope('POST /api/user/pay', { body })
  return { fields: data, url: envelope.url }
}
