import type { CodedError } from '../shared/coded-error.ts'
import type { ChannelTerms, KeyMode, NewChannel, TagChange } from './events.ts'

/** Each channel has a name of its own in place of `terms.name`. Ids are in ascending order. */
export type CreateChannels = {
  readonly type: 'CreateChannels'
  readonly terms: ChannelTerms
  readonly channels: readonly NewChannel[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/**
 * Changes the given fields; the others stay. `keys` is null to keep the keys; a new address, type
 * or proxy requires new keys that replace all others. `keyMode` is null to keep the mode, as far as
 * it fits the number of keys.
 */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly channelId: number
  readonly change: Partial<ChannelTerms>
  readonly keys: { readonly refs: readonly string[]; readonly isAppended: boolean } | null
  readonly keyMode: KeyMode | null
}

/** Enables all of them, or none where one is unknown or has expired at `now` (unix seconds). */
export type EnableChannels = {
  readonly type: 'EnableChannels'
  readonly channelIds: readonly number[]
  readonly now: number
}

type DisableChannels = {
  readonly type: 'DisableChannels'
  readonly channelIds: readonly number[]
}

/** `reason` is a code or a provider's status, never the text of a provider. */
export type AutoDisableChannel = {
  readonly type: 'AutoDisableChannel'
  readonly channelId: number
  readonly reason: string
}

/** Takes effect only if the gateway itself had disabled the channel. */
type AutoEnableChannel = { readonly type: 'AutoEnableChannel'; readonly channelId: number }

/** Deletes the channels that exist; unknown ids are ignored. */
export type DeleteChannels = {
  readonly type: 'DeleteChannels'
  readonly channelIds: readonly number[]
}

/**
 * Deletes all channels that an admin or the gateway disabled or that have expired at `now` (unix
 * seconds).
 */
export type DeleteDisabledChannels = {
  readonly type: 'DeleteDisabledChannels'
  readonly now: number
}

/** Tags all of them, or none where one is unknown. `null` removes the tag. */
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

/** Skips channels that have expired at `now` (unix seconds). */
export type EnableTag = { readonly type: 'EnableTag'; readonly tag: string; readonly now: number }

type DisableTag = { readonly type: 'DisableTag'; readonly tag: string }

/**
 * Stops the use of one key. For the last usable key, the channel is disabled instead
 * (`ChannelAutoDisabled`).
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
   * The channel was never created, or it was deleted. params if the command has several channels:
   * `id`.
   */
  | 'ChannelUnknown'
  /**
   * The channel has expired, so a later expiry has to be set first. params if the command has
   * several channels: `names`, `more`.
   */
  | 'ChannelExpired'
  /** The id was assigned before; params: `next`, the lowest free id. */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /** No key was given, or the address, type or proxy changed without new keys. */
  | 'KeyRequired'
  /** Several keys were given for a channel with a single key. */
  | 'OneKeyOnly'
  /** params: `limit`. */
  | 'TooManyKeys'
  | 'TagRequired'
  /** No channel has the tag. */
  | 'TagUnknown'
  /** params: `field` (its name on the wire) and `fault` (a `TermsErrorCode`). */
  | 'InvalidField'

export type ChannelError = CodedError<ChannelErrorCode>
