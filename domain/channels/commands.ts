import type { CodedError } from '../shared/coded-error.ts'
import type { ChannelTerms, KeyMode, NewChannel, TagChange } from './events.ts'

/**
 * Creates several channels with the same `terms`, except that each channel has a different name.
 * The ids are in ascending order.
 */
export type CreateChannels = {
  readonly type: 'CreateChannels'
  readonly terms: ChannelTerms
  readonly channels: readonly NewChannel[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/** The references of the keys to set or to append. A reference that is given twice counts once. */
type KeysChange = {
  readonly refs: readonly string[]
  readonly isAppended: boolean
  /**
   * The references of all keys of the channel that the sender has read. The command is refused if
   * the channel's keys have changed since then, because keys in `refs` may have been erased.
   */
  readonly basedOn?: readonly string[]
}

/**
 * Changes the given fields. `keys` and `keyMode` do not change if they are null. If a key is added
 * to a channel with a single key, an empty `keyMode` becomes `random`. A new address, type or proxy
 * requires new keys, which replace all earlier keys.
 */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly channelId: number
  readonly change: Partial<ChannelTerms>
  readonly keys: KeysChange | null
  readonly keyMode: KeyMode | null
}

/**
 * Enables channels. `now` is in Unix seconds. If one of the channels is unknown or has expired,
 * none is enabled.
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
 * The channels that can replace a channel. There is one list for each group and model that the
 * channel serves. Each list contains the ids of the other channels that serve this group and model.
 * Equal lists need to be given only once. The gateway disables the channel only if at least one
 * channel of each list is enabled when the command is decided. The sender can't check this in
 * advance, because two keys or two channels may fail at the same time.
 */
export type Substitutes = readonly (readonly number[])[]

/**
 * Disables a failing channel, unless one of its models would have no substitute. `reason` is an
 * error code or the provider's status, never the provider's text.
 */
export type AutoDisableChannel = {
  readonly type: 'AutoDisableChannel'
  readonly channelId: number
  readonly reason: string
  readonly substitutes: Substitutes
}

/** Enables a channel again, if the gateway disabled it. */
type AutoEnableChannel = { readonly type: 'AutoEnableChannel'; readonly channelId: number }

/** Deletes channels. If one of the channels is unknown, none is deleted. */
export type DeleteChannels = {
  readonly type: 'DeleteChannels'
  readonly channelIds: readonly number[]
}

/** Deletes all channels that are disabled, or that have expired at `now` (Unix seconds). */
export type DeleteDisabledChannels = {
  readonly type: 'DeleteDisabledChannels'
  readonly now: number
}

/**
 * Sets the tag of channels. If one of the channels is unknown, none is tagged. A null tag removes
 * the tag.
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

/** Enables the channels with the tag, except those that have expired at `now` (Unix seconds). */
export type EnableTag = { readonly type: 'EnableTag'; readonly tag: string; readonly now: number }

type DisableTag = { readonly type: 'DisableTag'; readonly tag: string }

/**
 * Temporarily stops the use of one key. If no other key of the channel is usable, the channel is
 * disabled instead, unless one of its models would have no substitute. The command changes nothing
 * if the terms of the channel do not allow automatic disabling.
 */
export type SetKeyAside = {
  readonly type: 'SetKeyAside'
  readonly channelId: number
  readonly keyRef: string
  readonly reason: string
  readonly substitutes: Substitutes
}

export type TakeBackKeys = {
  readonly type: 'TakeBackKeys'
  readonly channelId: number
  readonly keyRefs: readonly string[]
}

/**
 * Pauses the submissions to channels, or to none of them if one is unknown or already paused. See
 * `ChannelSubmissionsPaused`.
 */
export type PauseSubmissions = {
  readonly type: 'PauseSubmissions'
  readonly channelIds: readonly number[]
  readonly pause: string
  /** The time in Unix milliseconds. */
  readonly now: number
}

/**
 * Ends a pause. If `neededAt` (Unix milliseconds) is not null, the command is refused unless the
 * pause is still open and began less than 30 seconds before `neededAt`. Another change in the same
 * append can therefore rely on the pause.
 */
export type ResumeSubmissions = {
  readonly type: 'ResumeSubmissions'
  readonly channelIds: readonly number[]
  readonly pause: string
  readonly neededAt: number | null
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
  | PauseSubmissions
  | ResumeSubmissions
  | FixAbilities

export type ChannelErrorCode =
  /** The channel does not exist. Params for a command with several channels: `id`. */
  | 'ChannelUnknown'
  /** The channel has expired. Params for a command with several channels: `names` and `more`. */
  | 'ChannelExpired'
  /** An id is not above all ids that were assigned before. Params: `next`, the lowest free id. */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /**
   * The channel would have no key, or a change of its address, type or proxy does not replace all
   * keys.
   */
  | 'KeyRequired'
  /** Another request has changed the channel's keys since the sender read them. */
  | 'KeysChanged'
  | 'OneKeyOnly'
  /** The channel would have too many keys. Params: `limit`. */
  | 'TooManyKeys'
  /** Another request has paused the submissions to a channel. */
  | 'SubmissionsPaused'
  /**
   * The pause has ended or began too long ago, although another change in the same append relies on
   * it.
   */
  | 'SubmissionsNotPaused'
  | 'TagRequired'
  | 'TagUnknown'
  /** A field is invalid. Params: `field` (its name in the API) and `error` (a `TermsErrorCode`). */
  | 'InvalidField'

export type ChannelError = CodedError<ChannelErrorCode>
