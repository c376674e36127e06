import { queryOptions } from '@tanstack/react-query'
import type { UnreadCount } from '#read-api/contract/message.ts'
import { request } from '../request.ts'

export const unreadKey = ['unread'] as const

/** How many of one's own messages are unread. */
export const unreadQuery = queryOptions({
  queryKey: unreadKey,
  queryFn: async ({ signal }) => {
    const path = '/api/user/messages/unread_count'
    return (await request<UnreadCount>({ path, signal })).data.unread_count
  },
})
