import { queryOptions } from '@tanstack/react-query'
import type { ScheduledChange } from '#read-api/contract/option.ts'
import type { SchedulePrices } from '#write-api/contract/option.ts'
import { request } from '../request.ts'

export const priceScheduleKey = ['price-schedule'] as const

type Page = { items: ScheduledChange[]; page: number; total: number }
const PATH = '/api/option/price_schedule'

export const priceScheduleQuery = queryOptions({
  queryKey: priceScheduleKey,
  queryFn: async ({ signal }) =>
    (await request<Page>({ path: PATH, query: { page_size: 100 }, signal })).data.items,
})

export const schedulePrices = (body: SchedulePrices) =>
  request<{ id: number }>({ method: 'POST', path: PATH, body })

export const cancelPrices = (id: number) => request({ method: 'DELETE', path: `${PATH}/${id}` })
