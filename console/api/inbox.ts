import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { InboxMessage, UnreadCount } from '#read-api/contract/messages.ts'
import { fetchData, type ListPage } from './request.ts'

/** Everything about one's own inbox, but how much is unread. */
export const inboxKey = ['inbox'] as const

/** One's own messages, newest first. `page` counts from 0. */
export const inboxQuery = (asked: { page: number; pageSize: number }) =>
  queryOptions({
    queryKey: [...inboxKey, 'list', asked],
    queryFn: async ({ signal }) => {
      const query = { p: asked.page, page_size: asked.pageSize }
      return fetchData<ListPage<InboxMessage>>({ path: '/api/user/messages', query, signal })
    },
    placeholderData: keepPreviousData,
  })

export const unreadKey = ['unread'] as const

/** How many of one's own messages are unread. */
export const unreadQuery = queryOptions({
  queryKey: unreadKey,
  queryFn: async ({ signal }) => {
    const path = '/api/user/messages/unread_count'
    return (await fetchData<UnreadCount>({ path, signal })).unread_count
  },
})
