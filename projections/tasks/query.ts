import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { TASK_KINDS, type TaskKind } from '#domain/tasks/events.ts'
import {
  encryptedText,
  nullable,
  type RowOf,
  rowType,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import { DRAWING_FIELDS, MUSIC_FIELDS, type TaskSort } from '#read-api/contract/tasks.ts'
import {
  type ListOrder,
  orderTerms,
  type Slice,
  SORT_WINDOW,
  SORTED_LAST,
} from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const taskRow = rowType({
  ...fieldColumns(DRAWING_FIELDS),
  ...fieldColumns(MUSIC_FIELDS),
  changedPosition: wireInteger,
  kind: Type.Enum(TASK_KINDS),
  /** The cause of the failure (see `FailureCause`), or empty without a failure. */
  cause: Type.String(),
  result: encryptedText,
  videoSeconds: nullable(wireInteger),
  videoResolution: nullable(Type.String()),
  isDeleted: Type.Boolean(),
})

export { type ListOrder, SORT_WINDOW } from '../list-paging-and-sorting.ts'

export type TaskRow = RowOf<typeof taskRow>

/**
 * A filter of tasks. An absent field does not restrict the tasks. `from` and `to` are Unix seconds,
 * inclusive.
 */
export type TaskFilter = {
  readonly kind: TaskKind
  readonly userId?: number
  readonly channelId?: number
  readonly id?: string
  /** If set, `id` is also compared with the provider's id of the task. */
  readonly isByUpstreamId?: boolean
  readonly from?: number
  readonly to?: number
}

function matching({ kind, userId, channelId, id, isByUpstreamId, from, to }: TaskFilter) {
  const conditions = [
    kind === 'music' ? sql.fragment`kind in ('music', 'video')` : sql.fragment`kind = ${kind}`,
    ...(userId === undefined ? [] : [sql.fragment`user_id = ${userId}`]),
    ...(channelId === undefined ? [] : [sql.fragment`channel_id = ${channelId}`]),
    ...(id === undefined ? [] : [withId(id, isByUpstreamId === true)]),
    ...(from === undefined ? [] : [sql.fragment`submitted_at >= ${from * 1_000}`]),
    ...(to === undefined ? [] : [sql.fragment`submitted_at < ${(to + 1) * 1_000}`]),
  ]
  return sql.join(conditions, sql.fragment` and `)
}

const withId = (id: string, isByUpstreamId: boolean) =>
  isByUpstreamId ? sql.fragment`(id = ${id} or upstream_id = ${id})` : sql.fragment`id = ${id}`

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * Completes a query of tasks with the current names of users and channels. The names are joined to
 * the selected tasks, so that no other tasks are joined.
 */
const named = (rows: SqlFragment, order: SqlFragment) => sql.type(taskRow)`
  with selected as materialized (${rows})
  select
    ${selectedFields('k', { ...DRAWING_FIELDS, ...MUSIC_FIELDS })},
    k.changed_position as "changedPosition", k.kind, k.cause,
    k.video_seconds as "videoSeconds", k.video_resolution as "videoResolution",
    k.is_deleted as "isDeleted",
    -- The result is long, and a drawing does not show it.
    case when k.kind in ('music', 'video') then k.result end as result
  from (
    select t.*, coalesce(u.username, '') as username, coalesce(c.name, '') as channel_name
    from selected t
    left join read_users.users u on u.id = t.user_id
    left join read_channels.channels c on c.id = t.channel_id
  ) k
  order by ${order}
`

/** Lists tasks with positions below `before`, newest first. */
export const listTasks = (
  db: CommonQueryMethods,
  filter: TaskFilter,
  slice: { readonly before?: number; readonly offset: number; readonly limit: number },
): Promise<readonly TaskRow[]> => {
  const below =
    slice.before === undefined ? sql.fragment`true` : sql.fragment`position < ${slice.before}`
  return db.any(
    named(
      sql.fragment`
        select * from read_tasks.tasks where ${matching(filter)} and ${below}
        order by position desc limit ${slice.limit} offset ${slice.offset}`,
      sql.fragment`k.position desc`,
    ),
  )
}

/**
 * The sort columns of tasks `w`. In ascending order, tasks that have not ended come after ended
 * tasks.
 */
const SORT_COLUMNS = {
  submit_time: sql.fragment`w.position`,
  finish_time: sql.fragment`coalesce(w.finished_at, ${SORTED_LAST})`,
  duration: sql.fragment`coalesce(w.finished_at - w.submitted_at, ${SORTED_LAST})`,
  username: sql.fragment`
    (select lower(u.username) from read_users.users u where u.id = w.user_id)
  `,
  channel: sql.fragment`w.channel_id`,
  action: sql.fragment`w.action`,
  platform: sql.fragment`w.platform`,
  status: sql.fragment`w.status`,
  code: sql.fragment`w.code`,
} satisfies Record<TaskSort, unknown>

/**
 * Lists tasks sorted by a column. Tasks with the same value are listed newest first. Only the
 * newest `SORT_WINDOW` tasks with positions below `before` are sorted.
 */
export const sortedTasks = (
  db: CommonQueryMethods,
  filter: TaskFilter,
  slice: Slice & ListOrder<TaskSort> & { readonly before: number },
): Promise<readonly TaskRow[]> =>
  db.any(
    named(
      sql.fragment`
        select w.*, row_number() over (
          order by ${orderTerms(SORT_COLUMNS, slice, sql.fragment`w.position`)}
        ) as place
        from (
          select * from read_tasks.tasks where ${matching(filter)} and position < ${slice.before}
          order by position desc limit ${SORT_WINDOW}
        ) w
        order by place limit ${slice.limit} offset ${slice.offset}`,
      sql.fragment`k.place`,
    ),
  )

/** Returns the position of the newest task that matches, or 0. */
export const newestTaskPosition = async (
  db: CommonQueryMethods,
  filter: TaskFilter,
): Promise<number> =>
  (await db.maybeOneFirst(sql.type(rowType({ position: wireInteger }))`
    select position from read_tasks.tasks where ${matching(filter)}
    order by position desc limit 1
  `)) ?? 0

/** Reports whether there is a task of this kind. */
export const hasTasks = async (db: CommonQueryMethods, kind: TaskKind): Promise<boolean> =>
  (await db.maybeOneFirst(sql.type(rowType({ position: wireInteger }))`
    select position from read_tasks.tasks where kind = ${kind} limit 1
  `)) !== null

/** Counting stops above this number, so that the query does not read the whole table. */
export const TASKS_COUNTED_MAX = 100_000

/**
 * Counts matching tasks, up to `most`. With the default for `most`, callers can tell whether there
 * are more than `TASKS_COUNTED_MAX` tasks.
 */
export const countTasks = (
  db: CommonQueryMethods,
  filter: TaskFilter,
  most = TASKS_COUNTED_MAX + 1,
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from (
      select from read_tasks.tasks where ${matching(filter)} limit ${most}
    ) counted
  `)

/**
 * Reads the tasks that changed at event positions above `after` and up to `upTo`, in the order of
 * their last changes.
 */
export const changedTasks = (
  db: CommonQueryMethods,
  { after, upTo, limit, userId }: PositionRange,
): Promise<readonly TaskRow[]> => {
  const isTheirs = userId === undefined ? sql.fragment`true` : sql.fragment`user_id = ${userId}`
  return db.any(
    named(
      sql.fragment`
        select * from read_tasks.tasks
        where changed_position > ${after} and changed_position <= ${upTo} and ${isTheirs}
        order by changed_position limit ${limit}`,
      sql.fragment`k.changed_position`,
    ),
  )
}

export type PositionRange = {
  readonly after: number
  readonly upTo: number
  readonly limit: number
  readonly userId?: number
}

/**
 * Returns the ids of the user's tasks of a kind, in pages, without those that were deleted. The
 * newest tasks are first, or the oldest tasks if `isOldestFirst` is true. `after` is the last id of
 * the previous page, or null. A page may be found by its `offset` instead. If `action` is set, only
 * tasks with this action are returned. Task ids rise with time.
 */
export const recentTasks = async (
  db: CommonQueryMethods,
  { userId, kind, after, limit, isOldestFirst, offset = 0, action }: RecentTasks,
): Promise<readonly string[]> => {
  const comparison = isOldestFirst ? sql.fragment`>` : sql.fragment`<`
  const rest = after === null ? sql.fragment`true` : sql.fragment`id ${comparison} ${after}`
  const order = isOldestFirst ? sql.fragment`asc` : sql.fragment`desc`
  const isMeant = action === undefined ? sql.fragment`true` : sql.fragment`action = ${action}`
  return db.anyFirst(sql.type(rowType({ id: Type.String() }))`
    select id from read_tasks.tasks
    where kind = ${kind} and user_id = ${userId} and not is_deleted and ${rest} and ${isMeant}
    order by position ${order} limit ${limit} offset ${offset}
  `)
}

type RecentTasks = {
  readonly userId: number
  readonly kind: TaskKind
  readonly after: string | null
  readonly limit: number
  readonly isOldestFirst: boolean
  readonly offset?: number
  readonly action?: string
}

const taskOwner = rowType({ id: Type.String(), userId: wireInteger, kind: Type.Enum(TASK_KINDS) })
export type TaskOwner = RowOf<typeof taskOwner>

/** Reads the owners of the given tasks. Unknown and finished tasks are omitted. */
export const openTaskOwners = (
  db: CommonQueryMethods,
  ids: readonly string[],
): Promise<readonly TaskOwner[]> =>
  db.any(sql.type(taskOwner)`
    select id, user_id as "userId", kind from read_tasks.tasks
    where id = any(${sql.array(ids, 'text')}) and finished_at is null
  `)
