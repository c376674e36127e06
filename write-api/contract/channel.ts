import Type, { type Static } from 'typebox'

const text = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

export const ChannelFields = {
  name: Type.String({ maxLength: 200 }),
  type: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  key: Type.Optional(Type.String({ maxLength: 20000 })),
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
}

export const CreateChannel = Type.Object(ChannelFields)
export type CreateChannel = Static<typeof CreateChannel>

export const UpdateChannel = Type.Object({
  ...ChannelFields,
  name: Type.Optional(ChannelFields.name),
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  /** 1 enables, 2 disables; others are ignored. */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
})
export type UpdateChannel = Static<typeof UpdateChannel>

export const DeleteChannels = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1, maximum: 999999999999999 }), {
    minItems: 1,
    maxItems: 1000,
  }),
})
export type DeleteChannels = Static<typeof DeleteChannels>
