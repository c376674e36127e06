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

/** Counts the tasks that channels have and that have not ended. */
export const countOpenTasksOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_open_tasks.tasks
    where channel_id = any(${sql.array([...channelIds], 'int8')})
  `)
