import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { jsonOf, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { TIMELINE_KINDS } from '#read-api/contract/channel-timeline.ts'
import type { Listed } from '../list-paging-and-sorting.ts'

/**
 * The kinds of entries that are stored. Entries of the kind `expired` are not stored, because no
 * event records an expiry. The API adds these entries to its responses.
 */
const KINDS = TIMELINE_KINDS.filter((kind) => kind !== 'expired')
export type TimelineKind = (typeof KINDS)[number]

/** The details of an entry. Fields that do not apply to the kind of entry are absent. */
export type TimelineDetail = {
  readonly terms?: ChannelTerms
  readonly change?: Partial<ChannelTerms>
  readonly isEnabled?: boolean
  readonly droppedKeys?: number
  readonly tag?: string
  readonly reason?: string
  readonly count?: number
  readonly model?: string | null
  readonly keyRef?: string | null
  readonly failures?: number
  readonly round?: number
  readonly until?: number
  readonly isSuccess?: boolean
  readonly durationMs?: number
}

const entry = rowType({
  position: wireInteger,
  /** The time of the entry in Unix milliseconds. */
  at: wireInteger,
  kind: Type.Enum(KINDS),
  actor: Type.String(),
  detail: jsonOf<TimelineDetail>(),
})
export type TimelineEntry = RowOf<typeof entry>

const selected = sql.fragment`
  select position, at, kind, actor, detail from read_channel_timeline.entries
`

export type TimelineQuery = {
  readonly channelId: number
  /** The start of the period in Unix milliseconds. The period includes `from` and `to`. */
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly offset: number
}

export async function timelineOf(
  db: CommonQueryMethods,
  { channelId, from, to, limit, offset }: TimelineQuery,
): Promise<Listed<TimelineEntry>> {
  const within = sql.fragment`channel_id = ${channelId} and at >= ${from} and at <= ${to}`
  const [rows, total] = await Promise.all([
    db.any(sql.type(entry)`
      ${selected} where ${within} order by at desc, position desc limit ${limit} offset ${offset}
    `),
    db.oneFirst(sql.type(rowType({ total: wireInteger }))`
      select count(*) as total from read_channel_timeline.entries where ${within}
    `),
  ])
  return { rows, total }
}

const TERMS: readonly TimelineKind[] = ['created', 'terms-changed', 'tagged', 'tag-changed']
const STATUS: readonly TimelineKind[] = [
  'created',
  'enabled',
  'disabled',
  'auto-disabled',
  'deleted',
]
const CIRCUIT: readonly TimelineKind[] = ['circuit-opened', 'circuit-half-opened', 'circuit-closed']

/** Lists the changes of a channel's configuration up to `to` (Unix milliseconds), oldest first. */
export const termsChangesOf = (
  db: CommonQueryMethods,
  channelId: number,
  to: number,
): Promise<readonly TimelineEntry[]> =>
  db.any(sql.type(entry)`
    ${selected} where channel_id = ${channelId} and at <= ${to}
      and kind = any(${sql.array(TERMS, 'text')})
    order by position
  `)

/**
 * Reads the entry that determined a channel's status at a time (Unix milliseconds), or null if the
 * channel did not exist.
 */
export const statusEntryAt = (
  db: CommonQueryMethods,
  channelId: number,
  at: number,
): Promise<TimelineEntry | null> =>
  db.maybeOne(sql.type(entry)`
    ${selected} where channel_id = ${channelId} and at <= ${at}
      and kind = any(${sql.array(STATUS, 'text')})
    order by at desc, position desc limit 1
  `)

/**
 * Reads the latest entry of each circuit at or before a time (Unix milliseconds). Circuits that
 * were closed at that time are omitted.
 */
export const circuitEntriesAt = (
  db: CommonQueryMethods,
  channelId: number,
  at: number,
): Promise<readonly TimelineEntry[]> =>
  db.any(sql.type(entry)`
    select position, at, kind, actor, detail from (
      select distinct on (detail->'model', detail->'keyRef') position, at, kind, actor, detail
      from read_channel_timeline.entries
      where channel_id = ${channelId} and at <= ${at}
        and kind = any(${sql.array(CIRCUIT, 'text')})
      order by detail->'model', detail->'keyRef', at desc, position desc
    ) as latest
    where kind <> 'circuit-closed' order by position
  `)
