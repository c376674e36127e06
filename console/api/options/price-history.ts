import { queryOptions } from '@tanstack/react-query'
import type { PriceChange } from '#read-api/contract/option.ts'
import { request } from '../request.ts'

export const priceHistoryKey = ['price-history'] as const

export type PriceHistoryFilter = {
  /** The whole name. */
  model?: string
  /** A part of a model's name. */
  keyword?: string
  group?: string
  p: number
  page_size: number
}

type Page = { items: PriceChange[]; page: number; total: number }

export const priceHistoryQuery = (filter: PriceHistoryFilter) =>
  queryOptions({
    queryKey: [...priceHistoryKey, filter],
    queryFn: async ({ signal }) =>
      (await request<Page>({ path: '/api/option/price_history', query: filter, signal })).data,
  })
