import { fetchData } from '#console/api/request.ts'
import { type TaskAsk, type TaskPage, taskParams } from '#console/api/tasks.ts'
import { pageSizeParam } from '#console/ui/pagination.tsx'
import { rangeParam, relativeRange, type TimeRange } from '#console/ui/time-range/time-range.ts'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import type { DrawingTask, MusicTask } from '#read-api/contract/tasks.ts'

export type AnyTask = DrawingTask | MusicTask

const addressOf = (range: TimeRange) =>
  ({
    range: rangeParam(range),
    id: textParam(),
    /** Admins only; 0: all. */
    channel: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
    p: integerParam({ fallback: 0, max: 999_999_999 }),
    page_size: pageSizeParam,
  }) as const

export type TaskAddress = ReturnType<typeof addressOf>

/** What one log of tasks has of its own. */
export type TaskKind<Task extends AnyTask> = {
  readonly name: 'drawing' | 'music'
  readonly address: TaskAddress
  readonly list: (ask: TaskAsk) => Promise<TaskPage<Task>>
  readonly idOf: (task: Task) => string
}

/** From 30 days ago, open ahead by an hour. */
export const DRAWINGS: TaskKind<DrawingTask> = {
  name: 'drawing',
  address: addressOf(relativeRange('30d')),
  list: (ask) =>
    fetchData({
      path: ask.scope === 'all' ? '/api/mj/' : '/api/mj/self',
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
    fetchData({
      path: ask.scope === 'all' ? '/api/task/' : '/api/task/self',
      query: { ...taskParams(ask), task_id: ask.id },
      afterPosition: ask.afterPosition,
      signal: ask.signal,
    }),
  idOf: ({ task_id }) => task_id,
}
