import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'
import type { ListSort } from './request.ts'

/**
 * The filters and page of the user list. `page` starts at 0, and an empty filter has no effect. The
 * default order is newest first.
 */
type UserQuery = { keyword: string; group: string; page: number; pageSize: number } & ListSort

export const usersKey = ['users'] as const

export const usersQuery = (listQuery: UserQuery) =>
  queryOptions({
    queryKey: [...usersKey, listQuery],
    queryFn: ({ signal }) => {
      const { page, pageSize, ...rest } = listQuery
      const query = { ...rest, p: page, page_size: pageSize }
      const isSearch = listQuery.keyword !== '' || listQuery.group !== ''
      return call(isSearch ? 'GET /api/user/search' : 'GET /api/user/', { query, signal })
    },
    placeholderData: keepPreviousData,
  })

/**
 * Reads a user each time a form opens, because another admin may have changed the user. Only
 * admins may read users.
 */
export const userQuery = (id: number) => ({
  ...apiQuery('GET /api/user/:id', { params: { id } }, ['user', id]),
  staleTime: 0,
  gcTime: 0,
})
