import Type, { type Static } from 'typebox'
import { TranslatedText } from './response-envelope.ts'

/**
 * A field that only some channel types have. The console builds the form for channels from these
 * definitions.
 */
export const ChannelTypeField = Type.Object({
  /** The field of the channel in which the value of this type-specific field is stored. */
  key: Type.Union([Type.Literal('other'), Type.Literal('openai_organization')]),
  kind: Type.Union([Type.Literal('text'), Type.Literal('json'), Type.Literal('choice')]),
  label: TranslatedText,
  hint: TranslatedText,
  /** The value that the server uses if the field is empty. */
  default: Type.String(),
  is_required: Type.Boolean(),
  choices: Type.Optional(Type.Array(Type.String())),
})
export type ChannelTypeField = Static<typeof ChannelTypeField>

/** A channel type that this server supports. */
export const ChannelType = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /**
   * The base URL that the server uses for a channel without a base URL. Empty if the type has no
   * default.
   */
  base_url: Type.String(),
  /**
   * Keywords that an admin can enter instead of a base URL, each with the base URL that the server
   * uses for the keyword.
   */
  bases: Type.Array(
    Type.Object({ keyword: Type.String(), name: TranslatedText, base_url: Type.String() }),
  ),
  /**
   * The path of chat requests, which is appended to the base URL. The path can contain the
   * placeholders `{model}` and `{other}`.
   */
  chat_path: Type.String(),
  fields: Type.Array(ChannelTypeField),
  key_hint: TranslatedText,
  has_balance: Type.Boolean(),
  can_list_models: Type.Boolean(),
  /** The names of models that the provider offers. The list may be incomplete. */
  models: Type.Array(Type.String()),
})
export type ChannelType = Static<typeof ChannelType>
