import { queryOptions } from '@tanstack/react-query'
import type { Pricing } from '#read-api/contract/pricing.ts'
import { request } from '../request.ts'

/**
 * What can be called and at what price, in the groups of `userId`; null for a visitor. Each has an
 * answer of their own, so that a login shows other prices.
 */
export const pricingQuery = (userId: number | null) =>
  queryOptions({
    queryKey: ['pricing', userId],
    queryFn: async ({ signal }) =>
      (await request<Pricing['data']>({ path: '/api/pricing', signal })).envelope as Pricing,
  })
