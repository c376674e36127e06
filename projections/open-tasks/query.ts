import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { TASK_KINDS } from '#domain/tasks/events.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const openTask = rowType({
  task: Type.String(),
  userId: wireInteger,
  kind: Type.Enum(TASK_KINDS),
  /** `channelId`, `keyRef` and `upstreamId` are null until a provider has accepted the task. */
  channelId: nullable(wireInteger),
  keyRef: nullable(Type.String()),
  upstreamId: nullable(Type.String()),
  /** The channel and the key with which the task was last sent, or null before it is sent. */
  sentToChannelId: nullable(wireInteger),
  sentWithKeyRef: nullable(Type.String()),
  /** The time at which the task was submitted, in Unix milliseconds. */
  submittedAt: wireInteger,
})
export type OpenTask = RowOf<typeof openTask>

/** The last task of a page. The next page starts after this task. */
export type OpenTasksAfter = Pick<OpenTask, 'submittedAt' | 'task'>

/** Reads tasks that have not ended, oldest first. */
export const openTasks = (
  db: CommonQueryMethods,
  after: OpenTasksAfter,
  limit: number,
): Promise<readonly OpenTask[]> =>
  db.any(sql.type(openTask)`
    select task, user_id as "userId", kind, channel_id as "channelId", key_ref as "keyRef",
           upstream_id as "upstreamId", sent_to_channel_id as "sentToChannelId",
           sent_with_key_ref as "sentWithKeyRef", submitted_at as "submittedAt"
    from read_open_tasks.tasks
    where (submitted_at, task) > (${after.submittedAt}, ${after.task})
    order by submitted_at, task limit ${limit}
  `)

/**
 * Counts the unfinished tasks of channels. A task belongs to the channel that accepted it or,
 * before it is accepted, to the channel to which it was last sent. If `keptRefs` is given, tasks
 * with one of these keys do not count.
 */
export const countOpenTasksOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
  keptRefs?: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_open_tasks.tasks
    where coalesce(channel_id, sent_to_channel_id) = any(${sql.array([...channelIds], 'int8')})
      and ${
        keptRefs === undefined
          ? sql.fragment`true`
          : sql.fragment`(coalesce(key_ref, sent_with_key_ref) is null
              or coalesce(key_ref, sent_with_key_ref) <> all(${sql.array([...keptRefs], 'text')}))`
      }
  `)
