import { queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

/** Oneself with balance and bindings, read anew for each form. */
export const ownUserQuery = queryOptions({
  queryKey: ['own-user'],
  queryFn: async ({ signal }) => (await request<User>({ path: '/api/user/self', signal })).data,
  staleTime: 0,
})
