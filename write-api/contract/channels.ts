import Type, { type Static } from 'typebox'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import { Id, IdParams, Query } from '#read-api/contract/request-parameters.ts'
import { writableFields } from '#read-api/contract/resource-field-definition.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { requestProperties } from '#read-api/contract/schemas-from-field-definitions.ts'

const text = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

const ChannelFields = requestProperties(writableFields(CHANNEL_FIELDS))

export const CreateChannel = Type.Object({
  ...ChannelFields,
  /**
   * `single` (the default) creates one channel with one key. `batch` creates a channel for each key
   * in `key`. `multi_to_single` creates one channel with all keys, and `multi_key_mode` determines
   * how calls select a key.
   */
  mode: Type.Optional(
    Type.Union([Type.Literal('single'), Type.Literal('batch'), Type.Literal('multi_to_single')]),
  ),
})
export type CreateChannel = Static<typeof CreateChannel>

/** The channels that a request has created. `id` is the first of `ids`. */
const CreatedChannels = Type.Object({
  id: Type.Integer(),
  ids: Type.Array(Type.Integer()),
})

export const UpdateChannel = Type.Object({
  ...ChannelFields,
  name: Type.Optional(ChannelFields.name),
  id: Id,
  /**
   * 1 enables the channel, and 2 disables it. 0 changes nothing. 3 (disabled by the gateway) also
   * changes nothing, but is rejected unless the channel has this status, or is enabled and has
   * expired. A client can therefore send back a complete row.
   */
  status: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  /**
   * The status that the client has read. If `status` equals this value, the status is not changed.
   */
  expected_status: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  /**
   * `replace` replaces the existing keys with the keys in `key`. `append` adds the keys in `key` to
   * the existing keys.
   */
  key_mode: Type.Optional(Type.Union([Type.Literal('replace'), Type.Literal('append')])),
  /**
   * A key that unfinished tasks or batches need is removed only if `force` is true. The only key of
   * a channel can always be replaced if the type, the address and the proxy stay the same.
   */
  force: Type.Optional(Type.Boolean()),
  /** The indexes (from 0) of keys that are enabled again after they were disabled automatically. */
  enable_keys: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 9999 }), { maxItems: 1000 }),
  ),
})
export type UpdateChannel = Static<typeof UpdateChannel>

/**
 * A list of channel ids. The schema accepts an empty list, because the action rejects it with a
 * more specific message.
 */
const ids = Type.Array(Id, { maxItems: 1000 })
const tag = Type.String({ maxLength: CHANNEL_FIELDS.tag.maxLength })

/** Channels that have unfinished tasks or batches are deleted only if `force` is true. */
export const DeleteChannelsBody = Type.Object({ ids, force: Type.Optional(Type.Boolean()) })
const ForceQuery = Type.Object({ force: Query.flag })
export type DeleteChannelsBody = Static<typeof DeleteChannelsBody>

/** A null tag removes the tag. */
export const TagChannels = Type.Object({ ids, tag: Type.Union([tag, Type.Null()]) })
export type TagChannels = Static<typeof TagChannels>

export const SetChannelsStatus = Type.Object({
  ids,
  status: Type.Union([Type.Literal(1), Type.Literal(2)]),
})
export type SetChannelsStatus = Static<typeof SetChannelsStatus>

/**
 * A change of all channels with a tag. An empty `new_tag` removes the tag. Any other field that is
 * omitted, null or empty changes nothing.
 */
export const UpdateTag = Type.Object({
  tag,
  new_tag: Type.Optional(Type.Union([tag, Type.Null()])),
  model_mapping: ChannelFields.model_mapping,
  groups: text(CHANNEL_FIELDS.groups.maxLength),
  models: text(CHANNEL_FIELDS.models.maxLength),
  priority: Type.Optional(Type.Union([ChannelFields.priority, Type.Null()])),
  weight: Type.Optional(Type.Union([ChannelFields.weight, Type.Null()])),
})
export type UpdateTag = Static<typeof UpdateTag>

export const NamedTag = Type.Object({ tag })
export type NamedTag = Static<typeof NamedTag>

/**
 * A request for the models that a provider offers at an address. Without `key`, the stored key of
 * the channel `id` is used, and the address must be the stored address of this channel.
 */
export const FetchModels = Type.Object({
  base_url: ChannelFields.base_url,
  type: Type.Integer({ minimum: CHANNEL_FIELDS.type.min, maximum: CHANNEL_FIELDS.type.max }),
  /** The provider's key. Only the first line is used. */
  key: ChannelFields.key,
  id: Type.Optional(Id),
  other: ChannelFields.other,
  setting: ChannelFields.setting,
})
export type FetchModels = Static<typeof FetchModels>

export const channelActions = {
  'POST /api/channel/tag/enabled': {
    summary: 'Set every channel of a tag to enabled; returns how many changed',
    body: NamedTag,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/tag/disabled': {
    summary: 'Set every channel of a tag to disabled; returns how many changed',
    body: NamedTag,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/batch/status': {
    summary: 'Enable (1) or disable (2) several channels; returns how many changed',
    body: SetChannelsStatus,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/:id/circuit/close': {
    summary: 'Close all circuits of a channel; returns how many were open or half-open',
    params: IdParams,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/fix': {
    summary: 'Make every relay reload the channels; returns how many there are',
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/batch/tag': {
    summary: 'Set or remove (null) the tag of several channels; returns how many changed',
    body: TagChannels,
    response: { 200: Envelope(Type.Integer()) },
  },
  'PUT /api/channel/tag': {
    summary: 'Change every channel of a tag; returns how many changed',
    body: UpdateTag,
    response: { 200: Envelope(Type.Integer()) },
  },
  'POST /api/channel/': {
    summary: 'Create a channel, or one for each of several keys',
    body: CreateChannel,
    response: { 200: Envelope(CreatedChannels) },
  },
  'POST /api/channel/copy/:id': {
    summary: 'Copy a channel with its keys',
    params: IdParams,
    response: { 200: Envelope(CreatedChannels) },
  },
  'DELETE /api/channel/:id/': {
    summary: 'Delete a channel; one with unfinished tasks or batches only with `force`',
    params: IdParams,
    querystring: ForceQuery,
    response: { 200: Done },
  },
  'POST /api/channel/batch': {
    summary: 'Delete several channels, all or none; returns how many',
    body: DeleteChannelsBody,
    response: { 200: Envelope(Type.Integer()) },
  },
  'DELETE /api/channel/disabled': {
    summary: 'Delete every disabled channel; returns how many',
    querystring: ForceQuery,
    response: { 200: Envelope(Type.Integer()) },
  },
  'PUT /api/channel/': {
    summary: 'Change a channel; a new type, address or proxy requires the key again',
    body: UpdateChannel,
    response: { 200: Done },
  },
}
