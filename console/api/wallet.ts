import { keepPreviousData } from '@tanstack/react-query'
import type { Pay } from '#write-api/contract/top-ups.ts'
import { apiQuery, exchange } from './client.ts'

export const ordersKey = ['orders'] as const
export const ORDERS_PER_PAGE = 5

/** The user's top-ups, newest first; `page` counts from 0. */
export function ownOrdersQuery(page: number) {
  const query = { p: page, page_size: ORDERS_PER_PAGE }
  return {
    ...apiQuery('GET /api/user/topup/self', { query }, [...ordersKey, 'own', page]),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always' as const,
  }
}

/** Where to pay: a form to send to `url`, or without fields a page to go to. */
export type PaymentPage = { fields: Readonly<Record<string, string>>; url: string }

/** Orders a top-up. */
export async function pay(body: Pay): Promise<PaymentPage> {
  const { data, envelope } = await exchange('POST /api/user/pay', { body })
  return { fields: data, url: envelope.url }
}
