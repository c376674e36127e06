import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Order } from '#read-api/contract/top-up.ts'
import { request } from '../request.ts'

export type OrderPage = { items: Order[]; page: number; total: number }

export const ordersKey = ['orders'] as const
export const ORDERS_PER_PAGE = 5

/** One's own top-ups, newest first; `page` from 0. */
export const ownOrdersQuery = (page: number) =>
  queryOptions({
    queryKey: [...ordersKey, 'own', page],
    queryFn: async ({ signal }) => {
      const query = { p: page, page_size: ORDERS_PER_PAGE }
      const call = { path: '/api/user/topup/self', query, signal }
      return (await request<OrderPage>(call)).data
    },
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
  })
