import { queryOptions } from '@tanstack/react-query'
import { request } from '../request.ts'

/** The code of one's own invite link; it never changes. */
export const inviteCodeQuery = queryOptions({
  queryKey: ['invite-code'],
  queryFn: async ({ signal }) => (await request<string>({ path: '/api/user/aff', signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
})
