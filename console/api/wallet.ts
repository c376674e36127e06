import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Order } from '#read-api/contract/top-ups.ts'
import type { Pay } from '#write-api/contract/top-ups.ts'
import { fetchData, type ListPage, request } from './request.ts'

export const ordersKey = ['orders'] as const
export const ORDERS_PER_PAGE = 5

/** One's own top-ups, newest first; `page` from 0. */
export const ownOrdersQuery = (page: number) =>
  queryOptions({
    queryKey: [...ordersKey, 'own', page],
    queryFn: async ({ signal }) => {
      const query = { p: page, page_size: ORDERS_PER_PAGE }
      const call = { path: '/api/user/topup/self', query, signal }
      return fetchData<ListPage<Order>>(call)
    },
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
  })

/** Where to pay: a form to send to `url`, or without fields a page to go to. */
export type PaymentPage = { fields: Readonly<Record<string, string>>; url: string }

/** Orders a top-up. */
export async function pay(order: Pay): Promise<PaymentPage> {
  const call = { method: 'POST', path: '/api/user/pay', body: order } as const
  const { data, envelope } = await request<Record<string, string>>(call)
  return { fields: data, url: String(envelope.url ?? '') }
}
