import { call } from '#console/api/client.ts'
import type { ListPage, ListSort } from '#console/api/request.ts'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { integerParam, textParam } from '#console/ui/state/url-state.ts'
import { rangeParam, relativeRange, type TimeRange } from '#console/ui/time-range/time-range.ts'
import type { DrawingTask, MusicTask, TaskPush } from '#read-api/contract/tasks.ts'

export type AnyTask = DrawingTask | MusicTask

/**
 * The columns by which the server can sort. Only the newest 10,000 tasks are sorted. The values of
 * all columns that are not listed here are encrypted, random or not stored.
 */
const SORTS = {
  submitted: 'submit_time',
  username: 'username',
  action: 'action',
  status: 'status',
  duration: 'duration',
  code: 'code',
  channel: 'channel',
  platform: 'platform',
  finished: 'finish_time',
}

const urlParamsOf = (range: TimeRange) =>
  listUrlParams(
    {
      range: rangeParam(range),
      id: textParam(),
      /** The channel of the task. This filter is for admins only. */
      channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
    },
    { pageName: 'p', hasPageSize: true, sorts: SORTS },
  )

/**
 * The filters and the page of a request for tasks. `page` starts at 0. `from` and `to` are in Unix
 * seconds.
 */
type TaskQuery = ListSort & {
  scope: 'self' | 'all'
  id: string
  channel: number
  from: number | null
  to: number | null
  page: number
  pageSize: number
  afterPosition: number
  signal: AbortSignal
}

/**
 * A page of tasks. `total` counts at most 100,000 tasks, and `is_total_capped` is true if there are
 * more.
 */
export type TaskPage<Task> = ListPage<Task> & { is_total_capped: boolean }

const inputOf = <Id extends object>(query: TaskQuery, id: Id) => ({
  query: {
    p: query.page,
    page_size: query.pageSize,
    channel_id: query.channel === 0 ? undefined : query.channel,
    start_timestamp: query.from ?? undefined,
    end_timestamp: query.to ?? undefined,
    sort: query.sort,
    order: query.order,
    ...id,
  },
  afterPosition: query.afterPosition,
  signal: query.signal,
})

export type TaskKind<Task extends AnyTask> = {
  readonly name: 'drawing' | 'music'
  readonly urlParams: ReturnType<typeof urlParamsOf>
  readonly list: (query: TaskQuery) => Promise<TaskPage<Task>>
  readonly idOf: (task: Task) => string
}

export const DRAWINGS: TaskKind<DrawingTask> = {
  name: 'drawing',
  urlParams: urlParamsOf(relativeRange('30d')),
  list: (query) =>
    call(
      query.scope === 'all' ? 'GET /api/mj/' : 'GET /api/mj/self',
      inputOf(query, { mj_id: query.id }),
    ),
  idOf: ({ mj_id }) => mj_id,
}

export const MUSIC: TaskKind<MusicTask> = {
  name: 'music',
  urlParams: urlParamsOf(relativeRange('today')),
  list: (query) =>
    call(
      query.scope === 'all' ? 'GET /api/task/' : 'GET /api/task/self',
      inputOf(query, { task_id: query.id }),
    ),
  idOf: ({ task_id }) => task_id,
}

export function songLengthText(seconds: number): string {
  if (seconds <= 0) return ''
  const total = Math.round(seconds)
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, '0')}`
}

/**
 * Returns the page with the changes that live events (`pushes`) report for its tasks. `hasNew` is
 * true if an event is about a task that is newer than all tasks of the page.
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
