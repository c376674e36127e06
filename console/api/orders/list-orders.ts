import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Order } from '#read-api/contract/top-up.ts'
import { request } from '../request.ts'

export type OrderPage = { items: Order[]; page: number; total: number }

/** `page` counts from 0. Empty texts ask for all; newest first. */
export type OrderQuery = { keyword: string; status: string; page: number; pageSize: number }

/** Everybody's top-ups, for admins. */
export const allOrdersQuery = (asked: OrderQuery) =>
  queryOptions({
    queryKey: ['orders', 'all', asked],
    queryFn: async ({ signal }) => {
      const { keyword, status, page, pageSize } = asked
      const query = { keyword, status, p: page, page_size: pageSize }
      return (await request<OrderPage>({ path: '/api/user/topup', query, signal })).data
    },
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  })
