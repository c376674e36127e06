import { queryOptions } from '@tanstack/react-query'
import { request } from '../request.ts'

/** The names of all groups; for admins. */
export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: async ({ signal }) => (await request<string[]>({ path: '/api/group/', signal })).data,
})
