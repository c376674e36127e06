import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/users.ts'
import type { EraseUser } from '#write-api/contract/users.ts'
import { fetchData, type ListPage, request } from './request.ts'

/** `page` counts from 0. Empty texts ask for everybody; newest first. */
type UserQuery = { keyword: string; group: string; page: number; pageSize: number }

export const usersKey = ['users'] as const

/** Every user, or those that are sought, for admins. */
export const usersQuery = (asked: UserQuery) =>
  queryOptions({
    queryKey: [...usersKey, asked],
    queryFn: async ({ signal }) => {
      const { keyword, group, page, pageSize } = asked
      const path = keyword === '' && group === '' ? '/api/user/' : '/api/user/search'
      const query = { keyword, group, p: page, page_size: pageSize }
      return fetchData<ListPage<User>>({ path, query, signal })
    },
    placeholderData: keepPreviousData,
  })

/** One user with all fields, read anew for each form. For admins. */
export const userQuery = (id: number) =>
  queryOptions({
    queryKey: ['user', id],
    queryFn: ({ signal }) => fetchData<User>({ path: `/api/user/${id}`, signal }),
    staleTime: 0,
    gcTime: 0,
  })

/** Erases the personal data of a user for good; the typed username confirms it. */
export async function eraseUser(erased: EraseUser): Promise<void> {
  await request({ method: 'POST', path: '/api/user/erase', body: erased })
}
