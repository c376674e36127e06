import { queryOptions } from '@tanstack/react-query'
import type { UsableGroups } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

/** The groups one may give to one's own tokens, with description and ratio. */
export const usableGroupsQuery = queryOptions({
  queryKey: ['usable-groups'],
  queryFn: async ({ signal }) =>
    (await request<UsableGroups>({ path: '/api/user/self/groups', signal })).data,
})
