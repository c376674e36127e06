import { call } from '#console/api/client.ts'
import type { ListPage } from '#console/api/request.ts'
import { listAddress } from '#console/ui/list-address.ts'
import { rangeParam, relativeRange, type TimeRange } from '#console/ui/time-range/time-range.ts'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import type { DrawingTask, MusicTask } from '#read-api/contract/tasks.ts'

export type AnyTask = DrawingTask | MusicTask

const addressOf = (range: TimeRange) =>
  listAddress(
    {
      range: rangeParam(range),
      id: textParam(),
      /** Admins only; 0: all. */
      channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
    },
    { pageName: 'p', hasPageSize: true },
  )

/** `page` counts from 0. An empty id and channel 0 ask for all. Times in unix seconds. */
type TaskAsk = {
  /** One's own tasks, or everybody's (admins). */
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

/** `is_total_capped`: there are more than `total`, which are not counted. */
export type TaskPage<Task> = ListPage<Task> & { is_total_capped: boolean }

/** The filters as the server names them; what is empty is not sent. */
const taskParams = (ask: TaskAsk) => ({
  p: ask.page,
  page_size: ask.pageSize,
  channel_id: ask.channel === 0 ? undefined : ask.channel,
  start_timestamp: ask.from ?? undefined,
  end_timestamp: ask.to ?? undefined,
})

/** What the logs of drawings and of music differ in. */
export type TaskKind<Task extends AnyTask> = {
  readonly name: 'drawing' | 'music'
  readonly address: ReturnType<typeof addressOf>
  readonly list: (ask: TaskAsk) => Promise<TaskPage<Task>>
  readonly idOf: (task: Task) => string
}

/** From 30 days ago, open ahead by an hour. */
export const DRAWINGS: TaskKind<DrawingTask> = {
  name: 'drawing',
  address: addressOf(relativeRange('30d')),
  list: (ask) =>
    call(ask.scope === 'all' ? 'GET /api/mj/' : 'GET /api/mj/self', {
      query: { ...taskParams(ask), mj_id: ask.id },
      afterPosition: ask.afterPosition,
      signal: ask.signal,
    }),
  idOf: ({ mj_id }) => mj_id,
}

/** From midnight, open ahead by an hour. */
export const MUSIC: TaskKind<MusicTask> = {
  name: 'music',
  address: addressOf(relativeRange('today')),
  list: (ask) =>
    call(ask.scope === 'all' ? 'GET /api/task/' : 'GET /api/task/self', {
      query: { ...taskParams(ask), task_id: ask.id },
      afterPosition: ask.afterPosition,
      signal: ask.signal,
    }),
  idOf: ({ task_id }) => task_id,
}
