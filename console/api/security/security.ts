import { queryOptions } from '@tanstack/react-query'
import type { Security } from '#read-api/contract/security.ts'
import { request } from '../request.ts'

/** What one comes in by beside the password. */
export const securityQuery = queryOptions({
  queryKey: ['security'],
  queryFn: async ({ signal }) =>
    (await request<Security>({ path: '/api/user/security', signal })).data,
})
