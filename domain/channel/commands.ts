import type { CodedError } from '../shared/coded-error.ts'
import type { ChannelTerms, KeyMode, NewChannel, TagChange } from './events.ts'

/**
 * Creates several channels with common terms. Each channel has a name of its own, which replaces
 * `terms.name`. The ids are in ascending order.
 */
export type CreateChannels = {
  readonly type: 'CreateChannels'
  readonly terms: ChannelTerms
  readonly channels: readonly NewChannel[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/**
 * Changes the given fields of a channel. Omitted fields are not changed. If `keys` is null, the
 * channel keeps its keys. If the address, type or proxy changes, new keys are required and replace
 * all earlier keys. If `keyMode` is null, the mode is kept as long as it fits the number of keys.
 */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly channelId: number
  readonly change: Partial<ChannelTerms>
  readonly keys: { readonly refs: readonly string[]; readonly isAppended: boolean } | null
  readonly keyMode: KeyMode | null
}

/**
 * Enables several channels. If one of the channels is unknown or has expired at `now` (unix
 * seconds), no channel is enabled.
 */
export type EnableChannels = {
  readonly type: 'EnableChannels'
  readonly channelIds: readonly number[]
  readonly now: number
}

type DisableChannels = {
  readonly type: 'DisableChannels'
  readonly channelIds: readonly number[]
}

/**
 * Disables a failing channel. `reason` is an error code or the provider's status, never the
 * provider's text.
 */
export type AutoDisableChannel = {
  readonly type: 'AutoDisableChannel'
  readonly channelId: number
  readonly reason: string
}

/** Enables a channel again, but only if the gateway itself disabled it. */
type AutoEnableChannel = { readonly type: 'AutoEnableChannel'; readonly channelId: number }

/** Deletes several channels. If one of the channels is unknown, no channel is deleted. */
export type DeleteChannels = {
  readonly type: 'DeleteChannels'
  readonly channelIds: readonly number[]
}

/**
 * Deletes all channels that an admin or the gateway has disabled, and all channels that have
 * expired at `now` (unix seconds).
 */
export type DeleteDisabledChannels = {
  readonly type: 'DeleteDisabledChannels'
  readonly now: number
}

/**
 * Tags several channels. If one of the channels is unknown, no channel is tagged. A null tag
 * removes the tag.
 */
export type TagChannels = {
  readonly type: 'TagChannels'
  readonly channelIds: readonly number[]
  readonly tag: string | null
}

export type ChangeTag = {
  readonly type: 'ChangeTag'
  readonly tag: string
  readonly change: TagChange
}

/** Enables the channels with the tag, except those that have expired at `now` (unix seconds). */
export type EnableTag = { readonly type: 'EnableTag'; readonly tag: string; readonly now: number }

type DisableTag = { readonly type: 'DisableTag'; readonly tag: string }

/**
 * Stops the use of one key of a channel. If it is the last usable key, the channel is disabled
 * instead (`ChannelAutoDisabled`).
 */
export type SetKeyAside = {
  readonly type: 'SetKeyAside'
  readonly channelId: number
  readonly keyRef: string
  readonly reason: string
}

export type TakeBackKeys = {
  readonly type: 'TakeBackKeys'
  readonly channelId: number
  readonly keyRefs: readonly string[]
}

type FixAbilities = { readonly type: 'FixAbilities' }

export type ChannelCommand =
  | CreateChannels
  | ChangeTerms
  | EnableChannels
  | DisableChannels
  | AutoDisableChannel
  | AutoEnableChannel
  | DeleteChannels
  | DeleteDisabledChannels
  | TagChannels
  | ChangeTag
  | EnableTag
  | DisableTag
  | SetKeyAside
  | TakeBackKeys
  | FixAbilities

export type ChannelErrorCode =
  /**
   * The channel does not exist. For a command with several channels, the error's `params` contain
   * the channel's `id`.
   */
  | 'ChannelUnknown'
  /**
   * The channel has expired, so the admin has to set a later expiry first. For a command with
   * several channels, the error's `params` are `names` and `more`.
   */
  | 'ChannelExpired'
  /**
   * The id already belongs to a channel. The error's `params` contain the lowest free id as `next`.
   */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /** The command has no key, although the channel is new or its address, type or proxy changes. */
  | 'KeyRequired'
  /** The command has several keys, but the channel allows only one key. */
  | 'OneKeyOnly'
  /** The channel would have too many keys. The error's `params` contain the maximum as `limit`. */
  | 'TooManyKeys'
  | 'TagRequired'
  /** No channel has the tag. */
  | 'TagUnknown'
  /**
   * A field of the terms is invalid. The error's `params` are `field` (the field's name in the API)
   * and `fault` (a `TermsErrorCode`).
   */
  | 'InvalidField'

export type ChannelError = CodedError<ChannelErrorCode>
