import { queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

/** One user with all fields, read anew for each form. For admins. */
export const userQuery = (id: number) =>
  queryOptions({
    queryKey: ['user', id],
    queryFn: async ({ signal }) => (await request<User>({ path: `/api/user/${id}`, signal })).data,
    staleTime: 0,
    gcTime: 0,
  })
