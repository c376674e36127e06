import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { z } from 'zod'
import type { ChannelTerms } from '#domain/channel/events.ts'
import { quota, wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint.ts'
import { containing, type Listed, type Slice } from '../like.ts'

const channelRow = z.object({
  id: wireInteger,
  terms: z.custom<ChannelTerms>(),
  keyRef: z.string(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  /** Why it was turned off by the gateway, empty otherwise. */
  statusReason: z.string(),
  /** Unix seconds, as `createdAt`. */
  statusAt: wireInteger,
  createdAt: wireInteger,
  /** Position of the last event that changed it (its spending apart). */
  changedPosition: wireInteger,
  isDeleted: z.boolean(),
  usedQuota: quota,
})
export type ChannelRow = z.infer<typeof channelRow>

const selected = sql.fragment`
  select
    c.id, c.terms, c.key_ref as "keyRef", c.status, c.status_reason as "statusReason",
    c.status_at as "statusAt", c.created_at as "createdAt",
    c.changed_position as "changedPosition", c.is_deleted as "isDeleted",
    coalesce(s.used_quota, 0) as "usedQuota"
  from read_channels.channels c left join read_channels.spent s on s.channel_id = c.id
`

/** null when it never was; a deleted one is answered with `isDeleted`. */
export const findChannel = (
  db: CommonQueryMethods,
  channelId: number,
): Promise<ChannelRow | null> =>
  db.maybeOne(sql.type(channelRow)`${selected} where c.id = ${channelId}`)

/** 0 when there are none. */
export const highestChannelId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(z.object({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_channels.channels
  `)

/** Every channel that is not deleted, whatever its status, as of one position. */
export const relayChannels = (db: DatabasePool): Promise<AtPosition<ChannelRow>> =>
  atCheckpoint(db, 'channels', (snapshot) =>
    snapshot.any(sql.type(channelRow)`${selected} where not c.is_deleted order by c.id`),
  )

export type ChannelSearch = Slice & {
  /** An id, or part of the name or the address; empty for all, as the others. */
  readonly keyword: string
  readonly group: string
  readonly model: string
  /** By id alone; else by priority first. */
  readonly isIdSort: boolean
  /** Pages count tags, with all of a tag's channels on one page; an untagged one is by itself. */
  readonly isTagMode: boolean
}

const ordinal = (isTagMode: boolean, order: ReturnType<typeof orderOf>) =>
  isTagMode
    ? sql.fragment`dense_rank() over (
        order by coalesce(c.terms->>'tag', '') = '', coalesce(c.terms->>'tag', ''),
          case when coalesce(c.terms->>'tag', '') = '' then c.id end desc)`
    : sql.fragment`row_number() over (order by ${order})`

const orderOf = (isIdSort: boolean) =>
  isIdSort ? sql.fragment`c.id desc` : sql.fragment`(c.terms->>'priority')::bigint desc, c.id desc`

/** Channels that are not deleted. `total` counts tags in tag mode. */
export async function listChannels(
  db: CommonQueryMethods,
  search: ChannelSearch,
): Promise<Listed<ChannelRow>> {
  const { keyword, group, model, isIdSort, isTagMode, limit, offset } = search
  const order = orderOf(isIdSort)
  const numbered = sql.fragment`
    select c.id, ${ordinal(isTagMode, order)} as place
    from read_channels.channels c
    where not c.is_deleted
      and (${keyword} = '' or c.id::text = ${keyword}
        or c.terms->>'name' ilike ${containing(keyword)}
        or c.terms->>'baseUrl' ilike ${containing(keyword)})
      and (${group} = '' or c.terms->'groups' @> to_jsonb(${group}::text))
      and (${model} = '' or (c.terms->'models')::text ilike ${containing(model)})
  `
  const rows = await db.any(sql.type(channelRow)`
    with numbered as (${numbered})
    select picked.* from (${selected}) picked join numbered n on n.id = picked.id
    where n.place > ${offset} and n.place <= ${offset + limit} order by n.place, picked.id desc
  `)
  const total = await db.oneFirst(sql.type(z.object({ total: wireInteger }))`
    with numbered as (${numbered}) select coalesce(max(place), 0) as total from numbered
  `)
  return { rows, total }
}

/** Channels changed after a position and up to another, in order of their last change. */
export const changedChannels = (
  db: CommonQueryMethods,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly ChannelRow[]> =>
  db.any(sql.type(channelRow)`
    ${selected} where c.changed_position > ${after} and c.changed_position <= ${upTo}
    order by c.changed_position limit ${limit}
  `)

const servedModel = z.object({ model: z.string(), groups: z.array(z.string()) })

/** The models of enabled channels, each with the groups that reach it. */
export const servedModels = (
  db: CommonQueryMethods,
): Promise<readonly z.infer<typeof servedModel>[]> =>
  db.any(sql.type(servedModel)`
    select m.model, array_agg(distinct g.name order by g.name) as groups
    from read_channels.channels c,
      jsonb_array_elements_text(c.terms->'models') as m (model),
      jsonb_array_elements_text(c.terms->'groups') as g (name)
    where c.status = 1 and not c.is_deleted
    group by m.model order by m.model
  `)

/** Every model that a channel names, whatever its status. */
export const channelModels = (db: CommonQueryMethods): Promise<readonly string[]> =>
  db.anyFirst(sql.type(z.object({ model: z.string() }))`
    select distinct m.model from read_channels.channels c,
      jsonb_array_elements_text(c.terms->'models') as m (model)
    where not c.is_deleted order by 1
  `)
