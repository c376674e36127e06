import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { isAdmin as isAdminUser } from '#console/api/session.ts'
import type { TaskPage } from '#console/api/tasks.ts'
import { useUser } from '#console/api/use-user.ts'
import { type PageSize, pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { boundsOf, rangeText, type TimeRange } from '#console/ui/time-range/time-range.ts'
import { useThrottled } from '#console/ui/use-throttled.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { withPushes } from './live-tasks.ts'
import type { AnyTask, TaskKind } from './task-kind.ts'

export type TaskFilter = { range: TimeRange; id: string; channel: number }

const EVERY_MS = 1_000

/** The page of tasks that the address asks for; they move on as their providers tell of them. */
export function useTaskList<Task extends AnyTask>(kind: TaskKind<Task>) {
  const isAdmin = isAdminUser(useUser())
  const client = useQueryClient()
  const [{ p: page, page_size: asked, ...filter }, setAddress] = useUrlState(kind.address)
  const size = useAskedSize(asked, (page_size) => setAddress({ page_size }))
  const [pageSize] = size
  /** Reads after a push must see at least what it told of. */
  const floor = useRef(0)
  const channel = isAdmin ? filter.channel : 0
  const queryKey = ['tasks', kind.name, isAdmin, rangeText(filter.range), filter.id, channel]
  const pageKey = [...queryKey, page, pageSize]
  const list = useQuery({
    queryKey: pageKey,
    queryFn: ({ signal }) =>
      kind.list({
        ...boundsOf(filter.range, Math.floor(Date.now() / 1_000)),
        ...{ scope: isAdmin ? 'all' : 'self', id: filter.id, channel, page, pageSize, signal },
        afterPosition: floor.current,
      }),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  })
  const readAgain = useThrottled(() => void list.refetch(), EVERY_MS)
  useLiveTopic('tasks', {
    onEvents: (pushes, position) => {
      floor.current = Math.max(floor.current, position)
      const shown = client.getQueryData<TaskPage<Task>>(pageKey)
      if (shown === undefined) return
      const next = withPushes(shown, pushes, kind)
      if (next.page !== shown) client.setQueryData(pageKey, next.page)
      if (next.hasNew && page === 0) readAgain()
    },
    onResync: (position) => {
      floor.current = Math.max(floor.current, position ?? 0)
      readAgain()
    },
  })
  const setFilter = useCallback(
    (patch: Partial<TaskFilter>) => setAddress({ ...patch, p: 0 }),
    [setAddress],
  )
  const fallback = kind.address.range.fallback
  return {
    isAdmin,
    list,
    rows: list.data?.items ?? [],
    filter,
    isFiltered: filter.id !== '' || channel !== 0 || filter.range !== fallback,
    setFilter,
    clear: () => setAddress({ range: fallback, id: '', channel: 0, p: 0 }),
    refresh: () => void list.refetch(),
    paging: {
      ...pagingOf({ page, total: list.data?.total }, size, (next, how) =>
        setAddress({ p: next }, how),
      ),
      isCapped: list.data?.is_total_capped === true,
    },
  }
}

/** The size that the address asks for (0: none), or else the one remembered. */
function useAskedSize(
  asked: PageSize | 0,
  ask: (size: PageSize) => void,
): ReturnType<typeof usePageSize> {
  const [remembered, remember] = usePageSize()
  if (asked === 0) return [remembered, remember]
  const choose = (size: PageSize): void => {
    remember(size)
    ask(size)
  }
  return [asked, choose]
}

export type TaskListView = Omit<ReturnType<typeof useTaskList>, 'list' | 'rows'>
