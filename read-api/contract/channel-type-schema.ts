import Type, { type Static } from 'typebox'
import { TranslatedText } from './response-envelope.ts'

/**
 * A field that only some channel types have. The console builds the form from these definitions.
 */
export const ChannelTypeField = Type.Object({
  /** The name of the channel's field. */
  key: Type.Union([Type.Literal('other'), Type.Literal('openai_organization')]),
  kind: Type.Union([Type.Literal('text'), Type.Literal('json'), Type.Literal('choice')]),
  label: TranslatedText,
  hint: TranslatedText,
  /** The value that applies if the field is empty. */
  default: Type.String(),
  is_required: Type.Boolean(),
  choices: Type.Optional(Type.Array(Type.String())),
})
export type ChannelTypeField = Static<typeof ChannelTypeField>

/** A supported channel type. */
export const ChannelType = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** The default address of the type, or empty if the type has none. */
  base_url: Type.String(),
  /**
   * The keywords that an admin may enter instead of an address, and the address for each keyword.
   */
  bases: Type.Array(
    Type.Object({ keyword: Type.String(), name: TranslatedText, base_url: Type.String() }),
  ),
  /**
   * The path of chat requests, which is appended to the address. It may contain `{model}` and
   * `{other}`.
   */
  chat_path: Type.String(),
  fields: Type.Array(ChannelTypeField),
  key_hint: TranslatedText,
  has_balance: Type.Boolean(),
  can_list_models: Type.Boolean(),
  /** The models that the provider is known to offer. */
  models: Type.Array(Type.String()),
})
export type ChannelType = Static<typeof ChannelType>
