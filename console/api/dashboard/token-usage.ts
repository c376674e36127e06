import type { TokenUsagePoint } from '#read-api/contract/usage.ts'
import { request } from '../request.ts'

/** One's own usage by token and day of UTC; ends in unix seconds. Id 0 gathers the rest. */
export async function tokenUsage(ask: {
  from: number
  to: number
  signal?: AbortSignal
}): Promise<TokenUsagePoint[]> {
  const { data } = await request<TokenUsagePoint[]>({
    path: '/api/data/self/tokens',
    query: { start_timestamp: ask.from, end_timestamp: ask.to },
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  })
  return data
}
