import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { arrayOf, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint-table.ts'
import { containing, type Listed, type Slice } from '../list-paging-and-sorting.ts'
import {
  type ChannelRow,
  channelRow,
  isUsableAt,
  type MemberRow,
  memberColumns,
  memberRow,
  selected,
  shownStatus,
  withFigures,
} from './channel-row.ts'
import { type ChannelOrder, orderOfChannels, orderOfTags } from './channel-sort-order.ts'

type ChannelFilter = {
  /** A channel id, or a part of the name, address or tag. An empty text matches all. */
  readonly keyword: string
  readonly group: string
  /** A part of a model name. An empty text matches all. */
  readonly model: string
  /** The displayed status. 0 matches every status except enabled. null matches every status. */
  readonly status: number | null
  readonly type: number | null
  /** The complete tag. An empty text matches all. */
  readonly tag: string
  /**
   * The current time in Unix seconds. An enabled channel that has expired by this time counts as
   * disabled.
   */
  readonly now: number
}

/** Builds the SQL condition on `channels c` for a search. */
const matching = ({ keyword, group, model, status, type, tag, now }: ChannelFilter) =>
  sql.fragment`
    not c.is_deleted
    and (${keyword} = '' or c.id::text = ${keyword} or c.name ilike ${containing(keyword)}
      or c.terms->>'baseUrl' ilike ${containing(keyword)}
      or c.tag ilike ${containing(keyword)})
    and (${group} = '' or c.groups @> to_jsonb(${group}::text))
    and (${model} = '' or c.models::text ilike ${containing(model)})
    and (${tag} = '' or c.tag = ${tag})
    and (${type === null} or (c.terms->>'type')::int8 = ${type ?? 0})
    and (${status === null} or (${status === 0} and not ${isUsableAt(now)})
      or ${shownStatus(now)} = ${status ?? 0})
  `

export type { ChannelRow, MemberRow } from './channel-row.ts'
export type { ChannelSort } from './channel-sort-order.ts'

/** Reads a channel, even a deleted one (`isDeleted`). Returns null for an unknown id. */
export const findChannel = (
  db: CommonQueryMethods,
  channelId: number,
): Promise<ChannelRow | null> =>
  db.maybeOne(sql.type(channelRow)`${selected} where c.id = ${channelId}`)

/** Returns the highest id, including deleted channels, or 0. */
export const highestChannelId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_channels.channels
  `)

/**
 * Returns the vault references of all keys and proxies of the given channels, even of deleted
 * channels.
 */
export async function secretRefsOf(
  db: CommonQueryMethods,
  channelIds: readonly number[],
): Promise<readonly string[]> {
  if (channelIds.length === 0) return []
  return db.anyFirst(sql.type(rowType({ ref: Type.String() }))`
    select k.ref from read_channels.channels c, jsonb_array_elements_text(c.key_refs) as k (ref)
    where c.id = any(${sql.array([...channelIds], 'int8')})
    union all
    select c.terms->>'proxyRef' from read_channels.channels c
    where c.id = any(${sql.array([...channelIds], 'int8')}) and c.terms->>'proxyRef' is not null
  `)
}

/**
 * Reads all channels that are not deleted, with the event position up to which they are current.
 */
export const relayChannels = (db: DatabasePool): Promise<AtPosition<ChannelRow>> =>
  atCheckpoint(db, 'channels', (snapshot) =>
    snapshot.any(sql.type(channelRow)`${selected} where not c.is_deleted order by c.id`),
  )

type ChannelSearch = Slice & ChannelFilter & ChannelOrder

/** A tag with its channels, or a single channel without a tag (`tag` is empty). */
export type ChannelsOfTag = {
  readonly tag: string
  /** Short rows of all channels of the tag. The list is empty for a channel without a tag. */
  readonly members: readonly MemberRow[]
  /**
   * The complete rows of the channels. For a tag, the list is empty if only short rows were
   * requested.
   */
  readonly rows: readonly ChannelRow[]
}

const counted = sql.type(rowType({ total: wireInteger }))

export async function listChannels(
  db: CommonQueryMethods,
  { limit, offset, ...search }: ChannelSearch,
): Promise<Listed<ChannelRow>> {
  const matches = matching(search)
  const ids = await db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select c.id from ${withFigures}
    where ${matches} order by ${orderOfChannels(search)} limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(counted`
    select count(*) as total from read_channels.channels c where ${matches}
  `)
  return { rows: await rowsOf(db, ids), total }
}

/**
 * Lists the tags of the matching channels, and matching channels without a tag. Each tag includes
 * all its channels, because an action on a tag affects all of them. The complete rows of channels
 * with a tag are read only if `isWhole` is set, because a thousand of these rows are a megabyte.
 */
export async function listChannelTags(
  db: CommonQueryMethods,
  { limit, offset, isWhole, ...search }: ChannelSearch & { readonly isWhole: boolean },
): Promise<Listed<ChannelsOfTag>> {
  // NOTE: a plain join by tag would join all channels without a tag to each other.
  const found = sql.fragment`
    found as materialized (
      select c.id, c.tag from read_channels.channels c where ${matching(search)}
    )
  `
  const tags = await db.any(sql.type(tagIds)`
    with ${found}
    select c.tag, array_agg(c.id order by ${orderOfChannels(search)}) as ids
    from ${withFigures}
    where not c.is_deleted and (c.tag in (select tag from found where tag <> '')
      or c.id in (select id from found where tag = ''))
    group by c.tag, case when c.tag = '' then c.id end
    order by ${orderOfTags(search)} limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(counted`
    with ${found}
    select count(distinct tag) filter (where tag <> '') + count(*) filter (where tag = '') as total
    from found
  `)
  const idsOf = (isMeant: (tag: string) => boolean) =>
    tags.flatMap(({ tag, ids }) => (isMeant(tag) ? ids : []))
  const rows = await rowsOf(
    db,
    idsOf((tag) => isWhole || tag === ''),
  )
  const members = await membersOf(
    db,
    idsOf((tag) => tag !== ''),
    search.now,
  )
  const [rowOf, memberOfId] = [byId(rows), byId(members)]
  const withRows = tags.map(({ tag, ids }) => ({
    tag,
    members: ids.flatMap((id) => memberOfId.get(id) ?? []),
    rows: ids.flatMap((id) => rowOf.get(id) ?? []),
  }))
  return { rows: withRows, total }
}

const byId = <Row extends { id: number }>(rows: readonly Row[]): Map<number, Row> =>
  new Map(rows.map((row) => [row.id, row]))

const tagIds = rowType({ tag: Type.String(), ids: arrayOf(wireInteger) })

async function membersOf(
  db: CommonQueryMethods,
  ids: readonly number[],
  now: number,
): Promise<readonly MemberRow[]> {
  if (ids.length === 0) return []
  return db.any(sql.type(memberRow)`
    select ${memberColumns(now)} from ${withFigures} where c.id = any(${sql.array(ids, 'int8')})
  `)
}

async function rowsOf(
  db: CommonQueryMethods,
  ids: readonly number[],
): Promise<readonly ChannelRow[]> {
  if (ids.length === 0) return []
  const rows = await db.any(sql.type(channelRow)`
    ${selected} where c.id = any(${sql.array(ids, 'int8')})
  `)
  const indexById = new Map(ids.map((id, index) => [id, index]))
  return [...rows].sort(
    (left, right) => (indexById.get(left.id) ?? 0) - (indexById.get(right.id) ?? 0),
  )
}

/**
 * Reads the channels that changed at event positions above `after` and up to `upTo`, in the order
 * of their last changes. Channels changed by the same event are returned together, even if the
 * result exceeds `limit`.
 */
export const changedChannels = (
  db: CommonQueryMethods,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly ChannelRow[]> =>
  db.any(sql.type(channelRow)`
    ${selected} where c.changed_position > ${after} and c.changed_position <= ${upTo}
    order by c.changed_position fetch first ${limit} rows with ties
  `)

const servedModel = rowType({ model: Type.String(), groups: Type.Array(Type.String()) })

/**
 * Lists the models of usable channels of the given types, with the groups that can use each model.
 * The models have the names that callers use. `now` is in Unix seconds.
 */
export const servedModels = (
  db: CommonQueryMethods,
  types: readonly number[],
  now: number,
): Promise<readonly RowOf<typeof servedModel>[]> =>
  db.any(sql.type(servedModel)`
    select coalesce(c.terms->>'modelPrefix', '') || m.model as model,
      array_agg(distinct g.name order by g.name) as groups
    from read_channels.channels c,
      jsonb_array_elements_text(c.models) as m (model),
      jsonb_array_elements_text(c.groups) as g (name)
    where not c.is_deleted and ${isUsableAt(now)}
      and (c.terms->>'type')::int8 = any(${sql.array([...types], 'int8')})
    group by 1 order by 1
  `)

const mappedModels = rowType({
  id: wireInteger,
  type: wireInteger,
  models: Type.Array(Type.String()),
  modelPrefix: Type.String(),
  modelMapping: Type.String(),
  groups: Type.Array(Type.String()),
  /** False for a channel that is disabled or deleted. An expired channel is still enabled. */
  isEnabled: Type.Boolean(),
  expiredTime: wireInteger,
  changedPosition: wireInteger,
  isDeleted: Type.Boolean(),
})
export type MappedModels = RowOf<typeof mappedModels>

const stateRow = rowType({ table: wireInteger, position: wireInteger })

/**
 * Reads the OID of the table of channels, which changes when a rebuild replaces the table. Also
 * reads the position at which a channel last changed, or -1 without channels.
 */
export const stateOfChannels = (db: CommonQueryMethods): Promise<RowOf<typeof stateRow>> =>
  db.one(sql.type(stateRow)`
    select 'read_channels.channels'::regclass::oid::int8 as "table",
      coalesce(max(changed_position), -1) as position
    from read_channels.channels
  `)

/**
 * Reads the models of the channels that changed at event positions above `after`, with the data
 * that determines the provider's names of these models. Deleted channels are included.
 */
export const mappedModelsOfChangedChannels = (
  db: CommonQueryMethods,
  after: number,
): Promise<readonly MappedModels[]> =>
  db.any(sql.type(mappedModels)`
    select c.id, (c.terms->>'type')::int8 as type, c.models, c.model_mapping as "modelMapping",
      coalesce(c.terms->>'modelPrefix', '') as "modelPrefix",
      c.groups, c.status = 1 and not c.is_deleted as "isEnabled", c.expired_at as "expiredTime",
      c.changed_position as "changedPosition", c.is_deleted as "isDeleted"
    from read_channels.channels c where c.changed_position > ${after}
  `)

/** Lists the models of all channels that are not deleted, regardless of their status. */
export const channelModels = (db: CommonQueryMethods): Promise<readonly string[]> =>
  db.anyFirst(sql.type(rowType({ model: Type.String() }))`
    select distinct m.model from read_channels.channels c,
      jsonb_array_elements_text(c.models) as m (model)
    where not c.is_deleted order by 1
  `)

/** Returns the names of channels by their ids, deleted channels included. */
export async function channelNames(
  db: CommonQueryMethods,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.any(sql.type(rowType({ id: wireInteger, name: Type.String() }))`
    select id, name from read_channels.channels where id = any(${sql.array([...ids], 'int8')})
  `)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
