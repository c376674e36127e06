import { queryOptions } from '@tanstack/react-query'
import type { Channel } from '#read-api/contract/channel.ts'
import { request } from '../request.ts'

export const channelKey = (id: number) => ['channel', id] as const

/** One channel with all its fields, read anew for each form. */
export const channelQuery = (id: number) =>
  queryOptions({
    queryKey: channelKey(id),
    queryFn: async ({ signal }) =>
      (await request<Channel>({ path: `/api/channel/${id}`, signal })).data,
    staleTime: 0,
    gcTime: 0,
  })
