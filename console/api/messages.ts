import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AdminMessage } from '#read-api/contract/messages.ts'
import { fetchData, type ListPage } from './request.ts'

/** `start` and `end` are ISO times, sent together or not at all. */
type MessageQuery = {
  keyword: string
  start: string
  end: string
  page: number
  pageSize: number
}

export const messagesKey = ['messages'] as const

/** What was sent, newest first, for admins. */
export const messagesQuery = (asked: MessageQuery) =>
  queryOptions({
    queryKey: [...messagesKey, 'list', asked],
    queryFn: async ({ signal }) => {
      const { page, pageSize } = asked
      const keyword = asked.keyword.trim()
      const hasRange = asked.start !== '' && asked.end !== ''
      const range = hasRange ? { start_date: asked.start, end_date: asked.end } : {}
      const isSearch = keyword !== '' || hasRange
      const path = isSearch ? '/api/admin/messages/search' : '/api/admin/messages'
      const query = { p: page, page_size: pageSize, keyword, ...range }
      return fetchData<ListPage<AdminMessage>>({ path, query, signal })
    },
    placeholderData: keepPreviousData,
  })
