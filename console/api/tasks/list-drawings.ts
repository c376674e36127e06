import type { DrawingTask } from '#read-api/contract/task.ts'
import { request } from '../request.ts'
import { type TaskAsk, type TaskPage, taskParams } from './task-query.ts'

/** One page of the drawings, newest first. */
export async function listDrawings(ask: TaskAsk): Promise<TaskPage<DrawingTask>> {
  const { data } = await request<TaskPage<DrawingTask>>({
    path: ask.scope === 'all' ? '/api/mj/' : '/api/mj/self',
    query: { ...taskParams(ask), mj_id: ask.id },
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })
  return data
}
