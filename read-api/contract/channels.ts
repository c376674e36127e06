import Type, { type Static } from 'typebox'
import { CHANNEL_FIELDS } from './channel-fields.ts'
import { choiceOf, Envelope, IdParams, Page, Query } from './envelope.ts'
import { answerProperties } from './field-schemas.ts'

export const Channel = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** Always empty: a provider's key is written, never read. */
  key: Type.String(),
  ...answerProperties(CHANNEL_FIELDS),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
  /** Milliseconds; 0 means untested. */
  response_time: Type.Integer(),
  balance: Type.Number(),
  used_quota: Type.Integer(),
  /** JSON text: `status_reason`, `status_time`. */
  other_info: Type.String(),
  test_time: Type.Integer(),
  /** The failure code of the latest test; empty after a success or without a test. */
  test_failure: Type.String(),
  balance_updated_time: Type.Integer(),
  created_time: Type.Integer(),
  /** The provider's charge, as a multiple of the list price; null: unknown. */
  cost_ratio: Type.Union([Type.Number(), Type.Null()]),
  /** Empty if the channel has one key. */
  multi_key_mode: Type.Union([Type.Literal(''), Type.Literal('random'), Type.Literal('polling')]),
  key_count: Type.Integer(),
  /** Automatically disabled keys, by their index from 0; `time` is in Unix seconds. */
  keys_set_aside: Type.Array(
    Type.Object({ index: Type.Integer(), reason: Type.String(), time: Type.Integer() }),
  ),
})
export type Channel = Static<typeof Channel>

/** The summary of a channel with a tag. */
export const TagMember = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
})
export type TagMember = Static<typeof TagMember>

/** All channels of a tag, for tag mode. null where the channels differ. */
export const TagGroup = Type.Object({
  tag: Type.String(),
  /** The groups of all channels, comma-separated. */
  group: Type.String(),
  used_quota: Type.Integer(),
  /** The mean of the tested channels in milliseconds; 0 if none was tested. */
  response_time: Type.Integer(),
  priority: Type.Union([Type.Integer(), Type.Null()]),
  weight: Type.Union([Type.Integer(), Type.Null()]),
  members: Type.Array(TagMember),
  /**
   * The complete channels; empty with `children=false`, in which case `tag=…` lists them page by
   * page.
   */
  children: Type.Array(Channel),
})
export type TagGroup = Static<typeof TagGroup>

/**
 * A row of the list. In tag mode it is a tag with its channels; a channel without a tag stands
 * alone.
 */
export const ChannelEntry = Type.Union([TagGroup, Channel])
export type ChannelEntry = Static<typeof ChannelEntry>

export const ModelEntry = Type.Object({ id: Type.String() })
export type ModelEntry = Static<typeof ModelEntry>

/** The columns that the list can be sorted by. */
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
  /** `false`: in tag mode, tags are listed without their channels. */
  children: Query.flag,
  /** Lists channels with exactly this tag. */
  tag: Query.text,
  /** 0: all channels that are not enabled. */
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
