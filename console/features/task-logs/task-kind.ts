import { call } from '#console/api/client.ts'
import type { ListPage, ListSort } from '#console/api/request.ts'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { integerParam, textParam } from '#console/ui/state/url-state.ts'
import { rangeParam, relativeRange, type TimeRange } from '#console/ui/time-range/time-range.ts'
import type { DrawingTask, MusicTask } from '#read-api/contract/tasks.ts'

export type AnyTask = DrawingTask | MusicTask

/**
 * The columns by which the server can sort, among the newest 10,000 tasks only. It can't sort by
 * other columns, because they are encrypted, random or not stored.
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

const addressOf = (range: TimeRange) =>
  listUrlParams(
    {
      range: rangeParam(range),
      id: textParam(),
      /** The channel of the task. This filter is for admins only. */
      channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
    },
    { pageName: 'p', hasPageSize: true, sorts: SORTS },
  )

/** The filters and the page of the task list. `page` starts at 0, and times are in unix seconds. */
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

/** A page of tasks. `is_total_capped` is true if there are more tasks than `total`. */
export type TaskPage<Task> = ListPage<Task> & { is_total_capped: boolean }

const inputOf = <Id extends object>(ask: TaskQuery, id: Id) => ({
  query: {
    p: ask.page,
    page_size: ask.pageSize,
    channel_id: ask.channel === 0 ? undefined : ask.channel,
    start_timestamp: ask.from ?? undefined,
    end_timestamp: ask.to ?? undefined,
    sort: ask.sort,
    order: ask.order,
    ...id,
  },
  afterPosition: ask.afterPosition,
  signal: ask.signal,
})

export type TaskKind<Task extends AnyTask> = {
  readonly name: 'drawing' | 'music'
  readonly address: ReturnType<typeof addressOf>
  readonly list: (ask: TaskQuery) => Promise<TaskPage<Task>>
  readonly idOf: (task: Task) => string
}

export const DRAWINGS: TaskKind<DrawingTask> = {
  name: 'drawing',
  address: addressOf(relativeRange('30d')),
  list: (ask) =>
    call(
      ask.scope === 'all' ? 'GET /api/mj/' : 'GET /api/mj/self',
      inputOf(ask, { mj_id: ask.id }),
    ),
  idOf: ({ mj_id }) => mj_id,
}

export const MUSIC: TaskKind<MusicTask> = {
  name: 'music',
  address: addressOf(relativeRange('today')),
  list: (ask) =>
    call(
      ask.scope === 'all' ? 'GET /api/task/' : 'GET /api/task/self',
      inputOf(ask, { task_id: ask.id }),
    ),
  idOf: ({ task_id }) => task_id,
}
