import { queryOptions } from '@tanstack/react-query'
import type { OwnSession } from '#read-api/contract/security.ts'
import { request } from '../request.ts'

/** Where one is logged in. */
export const ownSessionsQuery = queryOptions({
  queryKey: ['own-sessions'],
  queryFn: async ({ signal }) =>
    (await request<OwnSession[]>({ path: '/api/user/sessions', signal })).data,
})
