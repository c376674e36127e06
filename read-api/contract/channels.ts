import Type, { type Static } from 'typebox'
import { CHANNEL_FIELDS } from './channel-fields.ts'
import { choiceOf, IdParams, Query } from './request-parameters.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

export const Channel = Type.Object({
  ...responseProperties(CHANNEL_FIELDS),
  /**
   * The keys that were automatically disabled. `index` is the index of a key, from 0. `time` is in
   * Unix seconds.
   */
  keys_set_aside: Type.Array(
    Type.Object({ index: Type.Integer(), reason: Type.String(), time: Type.Integer() }),
  ),
})
export type Channel = Static<typeof Channel>

/** A channel in the row of its tag, with only the fields that the row shows. */
export const TagMember = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 is enabled, 2 disabled, 3 automatically disabled. */
  status: Type.Integer(),
})
export type TagMember = Static<typeof TagMember>

/**
 * One row for all channels with the same tag. `priority` and `weight` are null if the channels have
 * different values.
 */
export const TagGroup = Type.Object({
  tag: Type.String(),
  /** All groups of these channels, comma-separated. */
  group: Type.String(),
  used_quota: Type.Integer(),
  /**
   * The mean response time in milliseconds of the channels that were tested. 0 if no channel was
   * tested.
   */
  response_time: Type.Integer(),
  priority: Type.Union([Type.Integer(), Type.Null()]),
  weight: Type.Union([Type.Integer(), Type.Null()]),
  members: Type.Array(TagMember),
  /**
   * The channels with this tag. If the request has `children=false`, the list is empty, and the
   * client reads the channels page by page with `tag=…`.
   */
  children: Type.Array(Channel),
})
export type TagGroup = Static<typeof TagGroup>

/**
 * A row of the channel list. With `tag_mode`, all channels with the same tag are one row. A channel
 * without a tag is always a separate row.
 */
export const ChannelEntry = Type.Union([TagGroup, Channel])
export type ChannelEntry = Static<typeof ChannelEntry>

const ModelEntry = Type.Object({ id: Type.String() })

const CHANNEL_SORTS = [
  'id',
  'name',
  'type',
  'status',
  'group',
  'tag',
  'models',
  'priority',
  'weight',
  'used_quota',
  'response_time',
  'balance',
  'test_time',
  'created_time',
  'expired_time',
] as const

const SearchChannels = Type.Object({
  ...Query.page,
  keyword: Query.text,
  group: Query.text,
  model: Query.text,
  id_sort: Query.flag,
  tag_mode: Query.flag,
  /**
   * With `false`, the row of a tag does not contain the channels with this tag. The parameter
   * applies only with `tag_mode`.
   */
  children: Query.flag,
  /** Limits the list to channels with exactly this tag. */
  tag: Query.text,
  /** Limits the list to channels with this status. 0 means all channels that are not enabled. */
  status: Type.Optional(Type.String({ pattern: '^[0-3]?$' })),
  type: Query.integer,
  sort: choiceOf(CHANNEL_SORTS),
  order: choiceOf(['asc', 'desc']),
})

const listChannels = {
  querystring: SearchChannels,
  response: { 200: Envelope(Page(ChannelEntry)) },
}

export const channelQueries = {
  'GET /api/channel/': listChannels,
  'GET /api/channel/search': listChannels,
  'GET /api/channel/models': { response: { 200: Envelope(Type.Array(ModelEntry)) } },
  'GET /api/channel/models_enabled': { response: { 200: Envelope(Type.Array(Type.String())) } },
  'GET /api/channel/:id': { params: IdParams, response: { 200: Envelope(Channel) } },
}
