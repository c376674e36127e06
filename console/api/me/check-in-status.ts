import { queryOptions } from '@tanstack/react-query'
import type { CheckInStatus } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

/** Whether today's reward is still to be had. */
export const checkInStatusQuery = queryOptions({
  queryKey: ['check-in-status'],
  queryFn: async ({ signal }) =>
    (await request<CheckInStatus>({ path: '/api/user/check_in_status', signal })).data,
})
