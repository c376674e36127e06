import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Status } from '#read-api/contract/status.ts'
import { request } from '../request.ts'
import { cachedStatus, cacheStatus } from './status-cache.ts'

const REFRESH_MS = 5 * 60_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: async ({ signal }) => {
    const { data } = await request<Status>({ path: '/api/status', signal })
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
