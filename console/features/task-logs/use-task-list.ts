import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { useLiveTopic, useMinPosition } from '#console/api/live/use-live-topic.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { ListQuery } from '#console/ui/lists/list-url-params.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { boundsOf, rangeText } from '#console/ui/time-range/time-range.ts'
import {
  type AnyTask,
  type TaskKind,
  type TaskPage,
  withPushes,
} from './task-kinds-and-live-updates.ts'

type TaskListQuery = ListQuery<TaskKind<AnyTask>['urlParams']['filters']>

const REFETCH_INTERVAL_MIN_MS = 1_000

export function useTaskList<Task extends AnyTask>(kind: TaskKind<Task>) {
  const isAdmin = isAdminUser(useUser())
  const client = useQueryClient()
  const minPosition = useMinPosition()
  const keyOf = ({ range, id, channel, page, pageSize, sort, order }: TaskListQuery) => [
    'tasks',
    kind.name,
    isAdmin,
    rangeText(range),
    id,
    isAdmin ? channel : 0,
    page,
    pageSize,
    sort,
    order,
  ]
  const view = useListPage(kind.urlParams, (query) => ({
    queryKey: keyOf(query),
    queryFn: ({ signal }) =>
      kind.list({
        ...query,
        ...boundsOf(query.range, currentSeconds()),
        scope: isAdmin ? 'all' : 'self',
        channel: isAdmin ? query.channel : 0,
        signal,
        afterPosition: minPosition.current(),
      }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: 'always',
  }))
  const { list, paging } = view
  const pageKey = keyOf(view.listQuery)
  const refetch = useThrottledCallback(view.refresh, REFETCH_INTERVAL_MIN_MS)
  useLiveTopic('tasks', {
    onEvents: (pushes, position) => {
      minPosition.raiseTo(position)
      const cachedPage = client.getQueryData<TaskPage<Task>>(pageKey)
      if (cachedPage === undefined) return
      const next = withPushes(cachedPage, pushes, kind)
      if (next.page !== cachedPage) client.setQueryData(pageKey, next.page)
      if (next.hasNew && paging.page === 0) refetch()
    },
    onResync: (position) => {
      minPosition.raiseTo(position)
      refetch()
    },
  })
  return {
    ...view,
    isAdmin,
    paging: { ...paging, isCapped: list.data?.is_total_capped === true },
  }
}

export type TaskListView = Omit<ReturnType<typeof useTaskList>, 'list' | 'rows'>
