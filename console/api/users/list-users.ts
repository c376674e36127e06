import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { User } from '#read-api/contract/user.ts'
import { request } from '../request.ts'

export type UserPage = { items: User[]; page: number; total: number }

/** `page` counts from 0. Empty texts ask for everybody; newest first. */
export type UserQuery = { keyword: string; group: string; page: number; pageSize: number }

export const usersKey = ['users'] as const

/** Every user, or those that are sought, for admins. */
export const usersQuery = (asked: UserQuery) =>
  queryOptions({
    queryKey: [...usersKey, asked],
    queryFn: async ({ signal }) => {
      const { keyword, group, page, pageSize } = asked
      const path = keyword === '' && group === '' ? '/api/user/' : '/api/user/search'
      const query = { keyword, group, p: page, page_size: pageSize }
      return (await request<UserPage>({ path, query, signal })).data
    },
    placeholderData: keepPreviousData,
  })
