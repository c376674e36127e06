import Type, { type Static } from 'typebox'

const Words = Type.Object({ zh: Type.String(), en: Type.String() })

/** A field of a channel that its type brings along; the form follows from it. */
export const ChannelTypeField = Type.Object({
  /** Its name among a channel's fields. */
  key: Type.Union([Type.Literal('other'), Type.Literal('openai_organization')]),
  kind: Type.Union([Type.Literal('text'), Type.Literal('json'), Type.Literal('choice')]),
  label: Words,
  hint: Words,
  /** What is used while it is empty. */
  default: Type.String(),
  is_required: Type.Boolean(),
  choices: Type.Optional(Type.Array(Type.String())),
})
export type ChannelTypeField = Static<typeof ChannelTypeField>

/** A type of channel that can be served. */
export const ChannelType = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** Used when a channel has none; empty: a channel must have one. */
  base_url: Type.String(),
  /** Words that may stand in the place of an address, and the address each stands for. */
  bases: Type.Array(Type.Object({ keyword: Type.String(), name: Words, base_url: Type.String() })),
  /** Below the address; may hold `{model}` and `{other}`. */
  chat_path: Type.String(),
  fields: Type.Array(ChannelTypeField),
  key_hint: Words,
  has_balance: Type.Boolean(),
  can_list_models: Type.Boolean(),
  /** Models it is known for. */
  models: Type.Array(Type.String()),
})
export type ChannelType = Static<typeof ChannelType>
