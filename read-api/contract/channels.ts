import Type, { type Static } from 'typebox'

export const Channel = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  type: Type.Integer(),
  /** Always empty: a provider's key is written, never read. */
  key: Type.String(),
  openai_organization: Type.String(),
  max_input_tokens: Type.Integer(),
  base_url: Type.String(),
  other: Type.String(),
  model_mapping: Type.String(),
  status_code_mapping: Type.String(),
  /** Comma-separated. */
  models: Type.String(),
  auto_ban: Type.Integer(),
  test_model: Type.String(),
  /** Comma-separated. */
  group: Type.String(),
  priority: Type.Integer(),
  weight: Type.Integer(),
  tag: Type.String(),
  model_prefix: Type.String(),
  setting: Type.String(),
  param_override: Type.String(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
  /** Milliseconds; 0 untested. */
  response_time: Type.Integer(),
  balance: Type.Number(),
  used_quota: Type.Integer(),
  expired_time: Type.Integer(),
  /** JSON text: `status_reason`, `status_time`. */
  other_info: Type.String(),
  test_time: Type.Integer(),
  /** A code: why the last test failed; empty when it did not, or there was none. */
  test_failure: Type.String(),
  balance_updated_time: Type.Integer(),
  created_time: Type.Integer(),
  /** Calls at a time, and calls a minute; 0 no limit. */
  max_concurrency: Type.Integer(),
  max_rpm: Type.Integer(),
  /** What its provider charges, as a multiple of the list price; null: not known. */
  cost_ratio: Type.Union([Type.Number(), Type.Null()]),
  /** Empty: the channel has one key. */
  multi_key_mode: Type.Union([Type.Literal(''), Type.Literal('random'), Type.Literal('polling')]),
  key_count: Type.Integer(),
  /** Keys that are not used for now, by their place from 0; `time` in unix seconds. */
  keys_set_aside: Type.Array(
    Type.Object({ index: Type.Integer(), reason: Type.String(), time: Type.Integer() }),
  ),
})
export type Channel = Static<typeof Channel>

/** A channel of a tag in short. */
export const TagMember = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
})
export type TagMember = Static<typeof TagMember>

/** In tag mode: all channels of a tag together. null where the channels differ. */
export const TagGroup = Type.Object({
  tag: Type.String(),
  /** Comma-separated: the groups of all. */
  group: Type.String(),
  used_quota: Type.Integer(),
  /** Milliseconds, the mean of those that were tested; 0 none was. */
  response_time: Type.Integer(),
  priority: Type.Union([Type.Integer(), Type.Null()]),
  weight: Type.Union([Type.Integer(), Type.Null()]),
  members: Type.Array(TagMember),
  /** The channels whole; none with `children=false`: `tag=…` lists them, page by page. */
  children: Type.Array(Channel),
})
export type TagGroup = Static<typeof TagGroup>

/** A line of the list: in tag mode a tag with its channels; a channel without a tag is its own. */
export const ChannelEntry = Type.Union([TagGroup, Channel])
export type ChannelEntry = Static<typeof ChannelEntry>

export const ModelEntry = Type.Object({ id: Type.String() })
export type ModelEntry = Static<typeof ModelEntry>
