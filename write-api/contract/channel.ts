import Type, { type Static } from 'typebox'

const text = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

export const ChannelFields = {
  name: Type.String({ maxLength: 200 }),
  type: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  /** One a line where there are several. */
  key: Type.Optional(Type.String({ maxLength: 500000 })),
  openai_organization: text(200),
  max_input_tokens: Type.Optional(Type.Integer({ minimum: 0, maximum: 100000000 })),
  base_url: text(2000),
  other: text(20000),
  model_mapping: text(100000),
  status_code_mapping: text(20000),
  models: Type.Optional(Type.String({ maxLength: 200000 })),
  auto_ban: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  test_model: text(200),
  group: Type.Optional(Type.String({ maxLength: 20000 })),
  priority: Type.Optional(Type.Integer({ minimum: -1000000000, maximum: 1000000000 })),
  weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000000000 })),
  tag: text(200),
  model_prefix: text(200),
  setting: text(100000),
  param_override: text(100000),
  expired_time: Type.Optional(Type.Integer({ minimum: -1, maximum: 253402300799 })),
  /** Calls at a time, and calls a minute; 0 no limit. */
  max_concurrency: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000000 })),
  max_rpm: Type.Optional(Type.Integer({ minimum: 0, maximum: 100000000 })),
  /**
   * What the provider charges for a call, as a multiple of the site's list price (group ratio 1),
   * with at most 6 decimals. null: not known.
   */
  cost_ratio: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 1000 }), Type.Null()])),
  /** Which of several keys in one channel is taken: any, or each in turn. */
  multi_key_mode: Type.Optional(
    Type.Union([Type.Literal(''), Type.Literal('random'), Type.Literal('polling')]),
  ),
}

export const CreateChannel = Type.Object({
  ...ChannelFields,
  /** batch: a channel for each line of `key`. multi_to_single: all lines in one channel. */
  mode: Type.Optional(
    Type.Union([Type.Literal('single'), Type.Literal('batch'), Type.Literal('multi_to_single')]),
  ),
})
export type CreateChannel = Static<typeof CreateChannel>

/** `ids` are those of all channels created, `id` the first of them. */
export const CreatedChannels = Type.Object({
  id: Type.Integer(),
  ids: Type.Array(Type.Integer()),
})
export type CreatedChannels = Static<typeof CreatedChannels>

export const UpdateChannel = Type.Object({
  ...ChannelFields,
  name: Type.Optional(ChannelFields.name),
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  /** 1 enables, 2 disables, 0 changes nothing; 3 neither, where a row that is so is sent back. */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  /** What happens with the keys there are when `key` is given. */
  key_mode: Type.Optional(Type.Union([Type.Literal('replace'), Type.Literal('append')])),
  /** Keys that had been set aside, by their place from 0: they may be used again. */
  enable_keys: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 9999 }), { maxItems: 1000 }),
  ),
})
export type UpdateChannel = Static<typeof UpdateChannel>

/** May be empty here: that it is, is refused in words of its own. */
const ids = Type.Array(Type.Integer({ minimum: 1, maximum: 999999999999999 }), { maxItems: 1000 })
const tag = Type.String({ maxLength: 200 })

export const DeleteChannelsBody = Type.Object({ ids })
export type DeleteChannelsBody = Static<typeof DeleteChannelsBody>

/** `null` takes the tag off. */
export const TagChannels = Type.Object({ ids, tag: Type.Union([tag, Type.Null()]) })
export type TagChannels = Static<typeof TagChannels>

export const SetChannelsStatus = Type.Object({
  ids,
  status: Type.Union([Type.Literal(1), Type.Literal(2)]),
})
export type SetChannelsStatus = Static<typeof SetChannelsStatus>

/** `new_tag` empty takes the tag off. The others stay as they are when left out, null or empty. */
export const UpdateTag = Type.Object({
  tag,
  new_tag: Type.Optional(Type.Union([tag, Type.Null()])),
  model_mapping: ChannelFields.model_mapping,
  groups: text(20000),
  models: text(200000),
  priority: Type.Optional(Type.Union([ChannelFields.priority, Type.Null()])),
  weight: Type.Optional(Type.Union([ChannelFields.weight, Type.Null()])),
})
export type UpdateTag = Static<typeof UpdateTag>

export const NamedTag = Type.Object({ tag })
export type NamedTag = Static<typeof NamedTag>
