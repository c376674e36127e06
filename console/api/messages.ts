import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'
import type { ListSort } from './request.ts'

/** `start` and `end` are ISO times and must be sent together. */
type MessageQuery = {
  keyword: string
  start: string
  end: string
  page: number
  pageSize: number
} & ListSort

export const messagesKey = ['messages'] as const

export const messagesQuery = (listQuery: MessageQuery) =>
  queryOptions({
    queryKey: [...messagesKey, 'list', listQuery],
    queryFn: ({ signal }) => {
      const { page, pageSize, sort = '', order = '' } = listQuery
      const keyword = listQuery.keyword.trim()
      const hasRange = listQuery.start !== '' && listQuery.end !== ''
      const range = hasRange ? { start_date: listQuery.start, end_date: listQuery.end } : {}
      const isSearch = keyword !== '' || hasRange
      const query = { p: page, page_size: pageSize, keyword, ...range, sort, order }
      const name = isSearch ? 'GET /api/admin/messages/search' : 'GET /api/admin/messages'
      return call(name, { query, signal })
    },
    placeholderData: keepPreviousData,
  })

export const inboxKey = ['inbox'] as const

export const inboxQuery = (listQuery: { page: number; pageSize: number } & ListSort) => {
  const { page, pageSize, ...order } = listQuery
  const query = { p: page, page_size: pageSize, ...order }
  return {
    ...apiQuery('GET /api/user/messages', { query }, [...inboxKey, 'list', listQuery]),
    placeholderData: keepPreviousData,
  }
}

export const unreadKey = ['unread'] as const

export const unreadQuery = queryOptions({
  queryKey: unreadKey,
  queryFn: async ({ signal }) =>
    (await call('GET /api/user/messages/unread_count', { signal })).unread_count,
})
