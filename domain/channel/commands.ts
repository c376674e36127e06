import type { CodedError } from '../shared/coded-error.ts'
import type { ChannelTerms, KeyMode, NewChannel, TagChange } from './events.ts'

/** `terms.name` gives way to each channel's own. Ids ascend from the first. */
export type CreateChannels = {
  readonly type: 'CreateChannels'
  readonly terms: ChannelTerms
  readonly channels: readonly NewChannel[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/**
 * The fields given, the others stay. `keys` null keeps them; a new address, kind or proxy needs new
 * keys in place of all there were. `keyMode` null stays, as far as it suits the number of keys.
 */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly channelId: number
  readonly change: Partial<ChannelTerms>
  readonly keys: { readonly refs: readonly string[]; readonly isAppended: boolean } | null
  readonly keyMode: KeyMode | null
}

/** All of them, or none where one is unknown or has expired at `now` (unix seconds). */
export type EnableChannels = {
  readonly type: 'EnableChannels'
  readonly channelIds: readonly number[]
  readonly now: number
}

type DisableChannels = {
  readonly type: 'DisableChannels'
  readonly channelIds: readonly number[]
}

/** `reason` is a code or provider status, never a provider's text. */
export type AutoDisableChannel = {
  readonly type: 'AutoDisableChannel'
  readonly channelId: number
  readonly reason: string
}

/** Only where the gateway itself had turned it off. */
type AutoEnableChannel = { readonly type: 'AutoEnableChannel'; readonly channelId: number }

/** Those that are there; the others don't count. */
export type DeleteChannels = {
  readonly type: 'DeleteChannels'
  readonly channelIds: readonly number[]
}

/** Whatever is off: by hand, by the gateway, or expired at `now` (unix seconds). */
export type DeleteDisabledChannels = {
  readonly type: 'DeleteDisabledChannels'
  readonly now: number
}

/** All of them, or none where one is unknown. `null` takes the tag off. */
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

/** But for those that have expired at `now` (unix seconds). */
export type EnableTag = { readonly type: 'EnableTag'; readonly tag: string; readonly now: number }

type DisableTag = { readonly type: 'DisableTag'; readonly tag: string }

/** The last key that is left takes its channel along: `ChannelAutoDisabled`. */
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
  /** Never created, or deleted. params where several were named: `id`. */
  | 'ChannelUnknown'
  /** Only another time to expire turns it on; where several were named: `names`, `more`. */
  | 'ChannelExpired'
  /** The id was given out before; params: `next`, the lowest that never was. */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /** None was given, or the address, kind or proxy changed and the keys did not. */
  | 'KeyRequired'
  /** Several, in a channel that takes one. */
  | 'OneKeyOnly'
  /** params: `limit`. */
  | 'TooManyKeys'
  | 'TagRequired'
  /** No channel has it. */
  | 'TagUnknown'
  /** params: `field` (as on the wire) and `fault` (a `TermsErrorCode`). */
  | 'InvalidField'

export type ChannelError = CodedError<ChannelErrorCode>
