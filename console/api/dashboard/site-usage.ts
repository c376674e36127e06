import type { SiteUsage } from '#read-api/contract/usage.ts'
import { request } from '../request.ts'

export const siteUsageKey = ['site-usage'] as const

/** Totals of the site, its top users and models, and the lag, for admins. */
export async function siteUsage(ask: {
  from: number
  to: number
  signal?: AbortSignal
}): Promise<SiteUsage> {
  const { data } = await request<SiteUsage>({
    path: '/api/data/site',
    query: { start_timestamp: ask.from, end_timestamp: ask.to },
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
