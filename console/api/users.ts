import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'
import type { ListSort } from './request.ts'

/** `page` counts from 0. Empty texts ask for everybody; newest first unless sorted. */
type UserQuery = { keyword: string; group: string; page: number; pageSize: number } & ListSort

export const usersKey = ['users'] as const

/** Every user, or those that are sought, for admins. */
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

/** One user with all fields, read anew for each form. For admins. */
export const userQuery = (id: number) => ({
  ...apiQuery('GET /api/user/:id', { params: { id } }, ['user', id]),
  staleTime: 0,
  gcTime: 0,
})
