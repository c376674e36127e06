import { queryOptions } from '@tanstack/react-query'
import type { SetupStatus } from '#read-api/contract/status.ts'
import { request } from '../request.ts'

export const setupStatusQuery = queryOptions({
  queryKey: ['setup-status'],
  queryFn: async ({ signal }) => (await request<SetupStatus>({ path: '/api/setup', signal })).data,
})
