import { queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

/** The user behind a row; for admins. */
export const logUserQuery = (userId: number) =>
  queryOptions({
    queryKey: ['user', userId],
    queryFn: async ({ signal }) =>
      (await request<User>({ path: `/api/user/${userId}`, signal })).data,
  })
