import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { useLiveTopic, useMinPosition } from '#console/api/live/use-live-topic.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { ListQuery } from '#console/ui/lists/list-url-params.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { useThrottledCallback } from '#console/ui/state/throttling.ts'
import { boundsOf, rangeText } from '#console/ui/time-range/time-range.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { AnyTask, TaskKind, TaskPage } from './task-kind.ts'

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

/**
 * Applies live events (`pushes`) to the tasks of a page. `hasNew` is true if an event is about a
 * task that is newer than all tasks of the page.
 */
export function withPushes<Task extends AnyTask>(
  page: TaskPage<Task>,
  pushes: readonly TaskPush[],
  { name, idOf }: Pick<TaskKind<Task>, 'name' | 'idOf'>,
): { page: TaskPage<Task>; hasNew: boolean } {
  const moved = new Map<number, Task>()
  const reached = new Map<string, string>()
  for (const push of pushes) {
    if (push.kind === name) moved.set(push.id, push.task as Task)
    else if (push.kind === 'progress') {
      for (const { id, progress } of push.tasks) reached.set(id, progress)
    }
  }
  const newest = Math.max(0, ...page.items.map(({ id }) => id))
  const hasNew = [...moved.keys()].some((id) => id > newest)
  let isChanged = false
  const items = page.items.map((task) => {
    const now = moved.get(task.id) ?? task
    const progress = now.finish_time === 0 ? reached.get(idOf(now)) : undefined
    const next = progress === undefined ? now : { ...now, progress }
    isChanged ||= next !== task
    return next
  })
  return { page: isChanged ? { ...page, items } : page, hasNew }
}
