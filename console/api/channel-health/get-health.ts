import { queryOptions } from '@tanstack/react-query'
import type { HealthSnapshot } from '#read-api/contract/channel-health.ts'
import { request } from '../request.ts'

export const healthKey = ['channel-health'] as const

/** How every channel does; kept up by the live socket, and read again when that was away. */
export const healthQuery = queryOptions({
  queryKey: healthKey,
  queryFn: async ({ signal }) =>
    (await request<HealthSnapshot>({ path: '/api/channel/health', signal })).data,
})
