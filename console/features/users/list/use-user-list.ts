import { useQuery } from '@tanstack/react-query'
import { usersQuery } from '#console/api/users.ts'
import { pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'

const ADDRESS = {
  keyword: textParam(),
  group: textParam(),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

export type UserFilter = { keyword: string; group: string }
export type UserListView = ReturnType<typeof useUserList>

/** The page of users that the address asks for, and how to ask for another. */
export function useUserList() {
  const [{ page, ...filter }, setAddress] = useUrlState(ADDRESS)
  const size = usePageSize()
  const [pageSize] = size
  const list = useQuery({
    ...usersQuery({ ...filter, page, pageSize }),
    // Every call changes what a user has left.
    refetchOnMount: 'always',
    // And what other admins do to users is nowhere told live.
    refetchOnWindowFocus: 'always',
  })
  const total = list.data?.total ?? 0
  return {
    list,
    rows: list.data?.items ?? [],
    filter,
    isFiltered: filter.keyword !== '' || filter.group !== '',
    setFilter: (patch: Partial<UserFilter>, options?: { isTyping: boolean }) =>
      setAddress({ ...patch, page: 0 }, options),
    clear: () => setAddress({ keyword: '', group: '', page: 0 }),
    paging: pagingOf({ page, total }, size, (next, how) => setAddress({ page: next }, how)),
  }
}
