import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { InboxMessage } from '#read-api/contract/message.ts'
import { request } from '../request.ts'

export type InboxPage = { items: InboxMessage[]; page: number; total: number }

/** Everything about one's own inbox, but how much is unread. */
export const inboxKey = ['inbox'] as const

/** One's own messages, newest first. `page` counts from 0. */
export const inboxQuery = (asked: { page: number; pageSize: number }) =>
  queryOptions({
    queryKey: [...inboxKey, 'list', asked],
    queryFn: async ({ signal }) => {
      const query = { p: asked.page, page_size: asked.pageSize }
      return (await request<InboxPage>({ path: '/api/user/messages', query, signal })).data
    },
    placeholderData: keepPreviousData,
  })
