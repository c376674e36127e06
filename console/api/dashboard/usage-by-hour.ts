import type { UsagePoint } from '#read-api/contract/log.ts'
import { request } from '../request.ts'

export const usageKey = ['usage'] as const

/** One's own usage by hour and model; ends in unix seconds. Hours without calls are left out. */
export async function usageByHour(ask: {
  from: number
  to: number
  afterPosition?: number
  signal?: AbortSignal
}): Promise<UsagePoint[]> {
  const { data } = await request<UsagePoint[]>({
    path: '/api/data/self/',
    query: { start_timestamp: ask.from, end_timestamp: ask.to },
    ...(ask.afterPosition === undefined ? {} : { afterPosition: ask.afterPosition }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
