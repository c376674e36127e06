import type { UsagePoint } from '#read-api/contract/log.ts'
import { request } from '../request.ts'
import type { LogScope } from './log-query.ts'

/** Charged calls by hour and model; ends in unix seconds. Hours without any are left out. */
export async function callsByHour(ask: {
  scope: LogScope
  from: number
  to: number
  /** Admins only; empty for everybody. */
  username: string
  signal?: AbortSignal
}): Promise<UsagePoint[]> {
  const range = { start_timestamp: ask.from, end_timestamp: ask.to }
  const { data } = await request<UsagePoint[]>({
    path: ask.scope === 'all' ? '/api/data/' : '/api/data/self/',
    query: ask.scope === 'all' ? { ...range, username: ask.username } : range,
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
