import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskEvent } from '#domain/tasks/events.ts'
import { projectionOf } from '../projection.ts'

/** The tasks that have not ended. A poller queries their status from the providers. */
export const openTasksProjection = projectionOf<TaskEvent>({
  name: 'open-tasks',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tasks: { key: ['task'] } },
  handlers: {
    TaskSubmitted: ({ data }, rows) =>
      rows.insert(
        'tasks',
        { task: data.task },
        {
          user_id: data.userId,
          kind: data.kind,
          channel_id: null,
          key_ref: null,
          upstream_id: null,
          sent_to_channel_id: null,
          sent_with_key_ref: null,
          submitted_at: data.submittedAt,
        },
      ),
    TaskRouted: ({ data }, rows) =>
      rows.patch(
        'tasks',
        { task: data.task },
        { sent_to_channel_id: data.channelId, sent_with_key_ref: data.keyRef },
      ),
    TaskAccepted: ({ data }, rows) =>
      rows.patch(
        'tasks',
        { task: data.task },
        { channel_id: data.channelId, key_ref: data.keyRef, upstream_id: data.upstreamId },
      ),
    TaskUnconfirmed: ({ data }, rows) =>
      rows.patch(
        'tasks',
        { task: data.task },
        { sent_to_channel_id: data.channelId, sent_with_key_ref: data.keyRef },
      ),
    TaskSucceeded: ({ data }, rows) => rows.remove('tasks', { task: data.task }),
    TaskFailed: ({ data }, rows) => rows.remove('tasks', { task: data.task }),
  },
})
