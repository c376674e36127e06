import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskEvent } from '#domain/task/events.ts'
import { projectionOf } from '../projection.ts'

/** Every drawing and music task: what was asked, where it is, and what came of it. */
export const tasks = projectionOf<TaskEvent>({
  name: 'tasks',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tasks: { key: ['id'] } },
  handlers: {
    TaskSubmitted: ({ data, position }, rows) =>
      rows.insert(
        'tasks',
        { id: data.task },
        {
          position,
          changed_position: position,
          kind: data.kind,
          user_id: data.userId,
          platform: data.platform,
          action: data.action,
          model: data.model,
          task_group: data.group,
          hold: data.hold,
          submitted_at: data.submittedAt,
          prompt: data.prompt,
        },
      ),
    TaskAccepted: ({ data, position }, rows) =>
      rows.patch(
        'tasks',
        { id: data.task },
        {
          changed_position: position,
          channel_id: data.channelId,
          upstream_id: data.upstreamId,
          code: data.code,
          status: data.status,
          description: data.description,
        },
      ),
    TaskStatusChanged: ({ data, position }, rows) =>
      rows.patch(
        'tasks',
        { id: data.task },
        { changed_position: position, status: data.status, started_at: data.startedAt },
      ),
    TaskSucceeded: ({ data, position }, rows) =>
      rows.patch(
        'tasks',
        { id: data.task },
        {
          changed_position: position,
          status: 'SUCCESS',
          started_at: data.startedAt,
          finished_at: data.finishedAt,
          image_url: data.imageUrl,
          prompt_en: data.promptEn,
          result: data.result,
        },
      ),
    TaskFailed: ({ data, position }, rows) =>
      rows.patch(
        'tasks',
        { id: data.task },
        {
          changed_position: position,
          status: 'FAILURE',
          cause: data.cause,
          started_at: data.startedAt,
          finished_at: data.finishedAt,
          fail_reason: data.failReason,
          ...(data.channelId === null ? {} : { channel_id: data.channelId }),
          ...(data.code === null ? {} : { code: data.code }),
        },
      ),
  },
})
