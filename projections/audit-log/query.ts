import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { jsonOf, nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

type Fields = Readonly<Record<string, unknown>>

const act = rowType({
  position: wireInteger,
  objectKind: Type.String(),
  objectId: Type.String(),
  createdAt: wireInteger,
  act: Type.String(),
  actor: Type.String(),
  before: jsonOf<Fields | null>(),
  after: jsonOf<Fields>(),
  note: nullable(Type.String()),
  noteUser: wireInteger,
  clientIp: nullable(Type.String()),
  clientUser: wireInteger,
  requestId: nullable(Type.String()),
})
export type ActRow = RowOf<typeof act>

export type ActFilter = {
  /** If set, only acts of these actors, such as `user:7`, are listed. */
  readonly actors?: readonly string[] | undefined
  readonly act?: string | undefined
  readonly object?: { readonly kind: string; readonly id: string } | undefined
  /** The start of the period in Unix seconds. The period includes `from` and ends before `to`. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** The last row of the previous page. The next page begins after this row. */
export type ActCursor = { readonly position: number; readonly objectId: string }

const COLUMNS = sql.fragment`position, object_kind as "objectKind", object_id as "objectId",
  created_at as "createdAt", act, actor, after, note, note_user as "noteUser",
  client_ip as "clientIp", client_user as "clientUser", request_id as "requestId"`

/**
 * The SQL expression for the position of the first act at or after a time. If there is no such act,
 * the result is higher than the position of any act. A condition on the time itself would make
 * Postgres read all newer rows, even for a period in the past. Each period ends at the position at
 * which the next period begins, so successive periods have no gaps between them.
 */
const firstPositionAt = (time: number) => sql.fragment`coalesce((
  select t.position from read_audit_log.acts t where t.created_at >= ${time}
  order by t.created_at, t.position limit 1
), ${Number.MAX_SAFE_INTEGER})`

/**
 * The last part of the SQL queries for acts. It reads the acts from the CTE `page`, and adds to
 * each act the earlier values of the fields that the act changed. If the row of an act contains the
 * earlier values (`before`), they are used. Otherwise, the value of each field comes from the last
 * act before it, on the same object, that changed the field.
 */
const WITH_BEFORE = sql.fragment`
  select page."position", page."objectKind", page."objectId", page."createdAt", page.act,
    page.actor, page.after, page.note, page."noteUser", page."clientIp", page."clientUser",
    page."requestId", coalesce(page.before, (
      select jsonb_object_agg(field.key, earlier.value)
      from jsonb_object_keys(page.after) field(key), lateral (
        select a.after -> field.key as value from read_audit_log.acts a
        where a.object_kind = page."objectKind" and a.object_id = page."objectId"
          and a.position < page."position" and a.after ? field.key
        order by a.position desc limit 1
      ) earlier
    )) as before
  from page`

/**
 * Returns acts, newest first. `before` contains the earlier values of the changed fields (see
 * `WITH_BEFORE`).
 */
export async function listActs(
  db: CommonQueryMethods,
  filter: ActFilter,
  cursor: ActCursor | null,
  limit: number,
): Promise<readonly ActRow[]> {
  const { actors, act: name, object, from, to } = filter
  const conditions = [sql.fragment`true`]
  // With one actor, the rows are read in the order of the index, and not sorted.
  const [actor, ...others] = actors ?? []
  if (actor !== undefined && others.length === 0) conditions.push(sql.fragment`actor = ${actor}`)
  else if (actors !== undefined) {
    conditions.push(sql.fragment`actor = any(${sql.array([...actors], 'text')})`)
  }
  if (name !== undefined) conditions.push(sql.fragment`act = ${name}`)
  if (object !== undefined) {
    conditions.push(sql.fragment`object_kind = ${object.kind} and object_id = ${object.id}`)
  }
  if (from !== undefined) conditions.push(sql.fragment`position >= ${firstPositionAt(from)}`)
  if (to !== undefined) conditions.push(sql.fragment`position < ${firstPositionAt(to)}`)
  if (cursor !== null) {
    const { position, objectId } = cursor
    conditions.push(sql.fragment`position <= ${position}`)
    conditions.push(sql.fragment`(position, object_id) < (${position}, ${objectId})`)
  }
  return await db.any(sql.type(act)`
    with page as (
      select ${COLUMNS}, before from read_audit_log.acts
      where ${sql.join(conditions, sql.fragment` and `)}
      order by position desc, object_id desc limit ${limit}
    )
    ${WITH_BEFORE} order by page."position" desc, page."objectId" desc
  `)
}

/**
 * Returns the acts after position `after` up to position `upTo`, oldest first. If there are more
 * than `limit` acts, only the first ones are returned. Acts with the same position are never split
 * between two results, so the result can have more than `limit` acts.
 */
export async function actsAfter(
  db: CommonQueryMethods,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<readonly ActRow[]> {
  return await db.any(sql.type(act)`
    with first as (
      select position from read_audit_log.acts where position > ${after} and position <= ${upTo}
      order by position limit ${limit}
    ), page as (
      select ${COLUMNS}, before from read_audit_log.acts
      where position > ${after} and position <= (select max(position) from first)
    )
    ${WITH_BEFORE} order by page."position", page."objectId"
  `)
}
