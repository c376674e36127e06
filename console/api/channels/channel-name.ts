import { queryOptions } from '@tanstack/react-query'
import type { Channel } from '#read-api/contract/channel.ts'
import { ApiError } from '../api-error.ts'
import { request } from '../request.ts'

const FRESH_MS = 60_000

/** What a channel is called, for admins; empty where it is gone. */
export const channelNameQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel-name', id],
    queryFn: async ({ signal }) => {
      try {
        return (await request<Channel>({ path: `/api/channel/${id}`, signal })).data.name
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return ''
        throw error
      }
    },
    staleTime: FRESH_MS,
  })
