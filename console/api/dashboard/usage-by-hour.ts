import type { UsagePoint } from '#read-api/contract/log.ts'
import { request } from '../request.ts'

export const usageKey = ['usage'] as const

/**
 * One’s own usage, or everybody’s (for admins), by hour and model; ends in unix seconds. Hours
 * without calls are left out.
 */
export async function usageByHour(ask: {
  scope: 'self' | 'all'
  from: number
  to: number
  signal?: AbortSignal
}): Promise<UsagePoint[]> {
  const { data } = await request<UsagePoint[]>({
    path: ask.scope === 'all' ? '/api/data/' : '/api/data/self/',
    query: { start_timestamp: ask.from, end_timestamp: ask.to },
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
