import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Status } from '#read-api/contract/status.ts'
import { request } from '../request.ts'
import { cachedStatus, cacheStatus } from './status-cache.ts'

const REFRESH_MS = 5 * 60_000
/** The console waits for this one: no answer is told, not waited for. */
const ANSWER_MS_MAX = 10_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: async ({ signal }) => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
    const { data } = await request<Status>({ path: '/api/status', signal: inTime })
    cacheStatus(data)
    return data
  },
  staleTime: REFRESH_MS,
})

/**
 * What the site says of itself. Until the first answer it is the copy of the last visit, or
 * undefined on the very first one.
 */
export function useStatus(): Status | undefined {
  const placeholder = cachedStatus()
  return useQuery(
    placeholder === undefined ? statusQuery : { ...statusQuery, placeholderData: placeholder },
  ).data
}
