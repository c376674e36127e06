import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskEvent, TaskFailed, TaskSubmitted } from '#domain/tasks/events.ts'
import { projectionOf } from '../projection.ts'

/** All drawing, music and video tasks, each with its request, state and result. */
export const tasks = projectionOf<TaskEvent>({
  name: 'tasks',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tasks: { key: ['id'] } },
  handlers: {
    TaskSubmitted: ({ data, position }, rows) => {
      const at = { position, changed_position: position }
      rows.insert('tasks', { id: data.task }, { ...at, ...submissionCells(data) })
    },
    TaskAccepted: ({ data, position: changed_position }, rows) => {
      const { channelId: channel_id, upstreamId: upstream_id, code, status, description } = data
      const cells = { channel_id, upstream_id, code, status, description, changed_position }
      rows.patch('tasks', { id: data.task }, cells)
    },
    TaskStatusChanged: ({ data, position: changed_position }, rows) => {
      const { status, startedAt: started_at } = data
      rows.patch('tasks', { id: data.task }, { status, started_at, changed_position })
    },
    TaskSucceeded: ({ data, position: changed_position }, rows) => {
      const { startedAt: started_at, finishedAt: finished_at, result } = data
      const { imageUrl: image_url, promptEn: prompt_en } = data
      const resultCells = { status: 'SUCCESS', image_url, prompt_en, result }
      rows.patch(
        'tasks',
        { id: data.task },
        { ...resultCells, started_at, finished_at, changed_position },
      )
    },
    TaskFailed: ({ data, position: changed_position }, rows) =>
      rows.patch('tasks', { id: data.task }, { ...failure(data), changed_position }),
    TaskDeleted: ({ data, position: changed_position }, rows) =>
      rows.patch('tasks', { id: data.task }, { is_deleted: true, changed_position }),
  },
})

const submissionCells = (data: TaskSubmitted['data']) => ({
  kind: data.kind,
  user_id: data.userId,
  platform: data.platform,
  action: data.action,
  model: data.model,
  task_group: data.group,
  hold: data.hold,
  submitted_at: data.submittedAt,
  prompt: data.prompt,
  video_seconds: data.media?.seconds ?? null,
  video_resolution: data.media?.resolution ?? data.media?.size ?? null,
})

/**
 * Returns the columns of a failure. If the event has no channel or code, the channel or code of the
 * provider's earlier answer is kept.
 */
const failure = (data: TaskFailed['data']) => ({
  status: 'FAILURE',
  cause: data.cause,
  started_at: data.startedAt,
  finished_at: data.finishedAt,
  fail_reason: data.failReason,
  ...(data.channelId === null ? {} : { channel_id: data.channelId }),
  ...(data.code === null ? {} : { code: data.code }),
})
