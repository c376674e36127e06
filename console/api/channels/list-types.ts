import { queryOptions } from '@tanstack/react-query'
import type { ChannelType } from '#read-api/contract/channel-type.ts'
import { request } from '../request.ts'

/** The types that can be served, each with the fields of its own. Fixed while the server runs. */
export const channelTypesQuery = queryOptions({
  queryKey: ['channel-types'],
  queryFn: async ({ signal }) =>
    (await request<ChannelType[]>({ path: '/api/channel/types', signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
})
