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
  /** The time of the submission in unix milliseconds. */
  submittedAt: wireInteger,
})
export type OpenTask = RowOf<typeof openTask>

/** The last task of a page, after which the next page starts. */
export type OpenTasksAfter = Pick<OpenTask, 'submittedAt' | 'task'>

/** Reads tasks that have not ended, oldest first. */
export const openTasks = (
  db: CommonQueryMethods,
  after: OpenTasksAfter,
  limit: number,
): Promise<readonly OpenTask[]> =>
  db.any(sql.type(openTask)`
    select task, user_id as "userId", kind, channel_id as "channelId", key_ref as "keyRef",
           upstream_id as "upstreamId", submitted_at as "submittedAt"
    from read_open_tasks.tasks
    where (submitted_at, task) > (${after.submittedAt}, ${after.task})
    order by submitted_at, task limit ${limit}
  `)

const count = rowType({ count: wireInteger })

/**
 * Counts the unfinished tasks that channels have or may have. If `keyRefs` is given, only those
 * that were sent with one of these keys count.
 */
export const countOpenTasksOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
  keyRefs?: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(count)`
    select count(*) as count from read_open_tasks.tasks
    where coalesce(channel_id, sent_to_channel_id) = any(${sql.array([...channelIds], 'int8')})
      and ${
        keyRefs === undefined
          ? sql.fragment`true`
          : sql.fragment`
              coalesce(key_ref, sent_with_key_ref) = any(${sql.array([...keyRefs], 'text')})`
      }
  `)

/** The most submissions that are listed. No site submits so many tasks within a few seconds. */
const SUBMISSIONS_MAX = 10_000

/** Lists the tasks of which it is not known yet where they are sent. */
export const findSubmissions = (db: CommonQueryMethods): Promise<readonly string[]> =>
  db.anyFirst(sql.type(rowType({ task: Type.String() }))`
    select task from read_open_tasks.tasks
    where channel_id is null and sent_to_channel_id is null
    order by submitted_at limit ${SUBMISSIONS_MAX}
  `)

/** Counts those of the tasks of which it is still not known where they are sent. */
export const countSubmissions = (
  db: CommonQueryMethods,
  tasks: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(count)`
    select count(*) as count from read_open_tasks.tasks
    where task = any(${sql.array([...tasks], 'text')})
      and channel_id is null and sent_to_channel_id is null
  `)
