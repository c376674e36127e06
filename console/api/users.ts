import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'
import type { ListSort } from './request.ts'

/** `page` is zero-based. Empty texts do not filter; the newest users come first by default. */
type UserQuery = { keyword: string; group: string; page: number; pageSize: number } & ListSort

export const usersKey = ['users'] as const

/** Reads all users, with optional filters. Admins only. */
export const usersQuery = (asked: UserQuery) =>
  queryOptions({
    queryKey: [...usersKey, asked],
    queryFn: ({ signal }) => {
      const { page, pageSize, ...rest } = asked
      const query = { ...rest, p: page, page_size: pageSize }
      const isSearch = asked.keyword !== '' || asked.group !== ''
      return call(isSearch ? 'GET /api/user/search' : 'GET /api/user/', { query, signal })
    },
    placeholderData: keepPreviousData,
  })

/** Reads one user with all fields; each opened form reads fresh data. Admins only. */
export const userQuery = (id: number) => ({
  ...apiQuery('GET /api/user/:id', { params: { id } }, ['user', id]),
  staleTime: 0,
  gcTime: 0,
})
