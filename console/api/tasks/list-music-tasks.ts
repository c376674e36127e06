import type { MusicTask } from '#read-api/contract/task.ts'
import { request } from '../request.ts'
import { type TaskAsk, type TaskPage, taskParams } from './task-query.ts'

/** One page of the music tasks, newest first. */
export async function listMusicTasks(ask: TaskAsk): Promise<TaskPage<MusicTask>> {
  const { data } = await request<TaskPage<MusicTask>>({
    path: ask.scope === 'all' ? '/api/task/' : '/api/task/self',
    query: { ...taskParams(ask), task_id: ask.id },
    afterPosition: ask.afterPosition,
    signal: ask.signal,
  })
  return data
}
