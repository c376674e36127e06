import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const openTask = rowType({
  task: Type.String(),
  userId: wireInteger,
  kind: Type.Enum(['drawing', 'music']),
  /** null, as are the next two fields, when no provider is known to have the task. */
  channelId: nullable(wireInteger),
  keyRef: nullable(Type.String()),
  upstreamId: nullable(Type.String()),
  /** Unix milliseconds. */
  submittedAt: wireInteger,
})
export type OpenTask = RowOf<typeof openTask>

/** The cursor between two pages. */
export type OpenTasksAfter = Pick<OpenTask, 'submittedAt' | 'task'>

/** Tasks that have not ended, oldest first. */
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
