import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'
import type { ListSort } from './request.ts'

/**
 * The filters of the list of sent messages. `start` and `end` are ISO times. Both are set, or
 * neither is.
 */
type MessageQuery = {
  keyword: string
  start: string
  end: string
  page: number
  pageSize: number
  after?: number | undefined
} & ListSort

export const messagesKey = ['messages'] as const

export const messagesQuery = (listQuery: MessageQuery) =>
  queryOptions({
    queryKey: [...messagesKey, 'list', listQuery],
    queryFn: ({ signal }) => {
      const { page, pageSize, sort = '', order = '', after } = listQuery
      const keyword = listQuery.keyword.trim()
      const hasRange = listQuery.start !== '' && listQuery.end !== ''
      const range = hasRange ? { start_date: listQuery.start, end_date: listQuery.end } : {}
      const isSearch = keyword !== '' || hasRange
      const query = { p: page, page_size: pageSize, after, keyword, ...range, sort, order }
      const name = isSearch ? 'GET /api/admin/messages/search' : 'GET /api/admin/messages'
      return call(name, { query, signal })
    },
    placeholderData: keepPreviousData,
  })

export const inboxKey = ['inbox'] as const

export const inboxQuery = (
  listQuery: ListSort & { page: number; pageSize: number; after?: number },
) => {
  const { page, pageSize, ...rest } = listQuery
  const query = { p: page, page_size: pageSize, ...rest }
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
