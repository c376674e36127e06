import type { DecimalText } from '../pricing/price-snapshot.ts'
import type { KeyMode } from '../shared/channel-field-rules.ts'
import type { Fact } from '../shared/event.ts'

/**
 * The event stream of all channels. All channels share one stream, so that a change of several
 * channels is one event.
 */
export const CHANNELS_STREAM = 'channels'

export type { KeyMode }

/**
 * The settings of a channel. A field that contains JSON may be empty. The JSON is validated, but
 * stored exactly as the admin typed it.
 */
export type ChannelTerms = {
  readonly name: string
  /** The provider type, as the number by which the API identifies it. */
  readonly type: number
  /** The address without a trailing slash, or empty for the default of the provider type. */
  readonly baseUrl: string
  readonly models: readonly string[]
  readonly groups: readonly string[]
  readonly priority: number
  readonly weight: number
  readonly tag: string
  readonly isAutoBan: boolean
  readonly testModel: string
  readonly organization: string
  readonly other: string
  readonly modelPrefix: string
  readonly maxInputTokens: number
  /** The time at which the channel expires, in Unix seconds, or -1 if the channel never expires. */
  readonly expiredTime: number
  /**
   * The maximum number of simultaneous calls. `maxRpm` is the maximum number of calls per minute. 0
   * means no limit.
   */
  readonly maxConcurrency: number
  readonly maxRpm: number
  readonly modelMapping: string
  readonly statusCodeMapping: string
  readonly setting: string
  readonly paramOverride: string
  /** The provider's price as a multiple of the list price, if it is known. */
  readonly costRatio?: DecimalText
  /**
   * The vault reference of a proxy address with credentials. In older events, `setting` contains
   * the credentials.
   */
  readonly proxyRef?: string
}

/** The references of the keys, in the order in which the keys were entered. */
export type ChannelKeys = { readonly keyRefs: readonly string[]; readonly keyMode: KeyMode }

/** The settings that an admin can change for all channels with a tag. */
export type TagChange = Partial<
  Pick<ChannelTerms, 'tag' | 'modelMapping' | 'groups' | 'models' | 'priority' | 'weight'>
>

export type NewChannel = {
  readonly channelId: number
  readonly name: string
  readonly keyRefs: readonly string[]
  readonly proxyRef?: string
}

export const termsOfNew = (terms: ChannelTerms, { name, proxyRef }: NewChannel): ChannelTerms => ({
  ...terms,
  name,
  ...(proxyRef === undefined ? {} : { proxyRef }),
})

/**
 * Channels were created. `terms` apply to all of them, except that each channel has a separate name
 * and proxy reference.
 */
export type ChannelsCreated = Fact<
  'ChannelsCreated',
  {
    readonly terms: ChannelTerms
    readonly channels: readonly NewChannel[]
    readonly keyMode: KeyMode
    readonly isEnabled: boolean
  }
>

/**
 * The settings or the keys of a channel were changed. The event contains all settings and key
 * references after the change, and the vault references that are no longer used.
 */
export type ChannelTermsChanged = Fact<
  'ChannelTermsChanged',
  ChannelKeys & {
    readonly channelId: number
    readonly terms: ChannelTerms
    readonly droppedKeyRefs: readonly string[]
    readonly droppedProxyRef?: string
  }
>

/**
 * The channels that were enabled or disabled. `tag` is the tag by which an admin selected them, or
 * null.
 */
type ChannelsChange = { readonly channelIds: readonly number[]; readonly tag: string | null }

export type ChannelsEnabled = Fact<'ChannelsEnabled', ChannelsChange>

export type ChannelsDisabled = Fact<'ChannelsDisabled', ChannelsChange>

/**
 * The gateway disabled a failing channel. `reason` is an error code or the provider's status, never
 * the provider's text.
 */
export type ChannelAutoDisabled = Fact<
  'ChannelAutoDisabled',
  { readonly channelId: number; readonly reason: string }
>

export type ChannelsDeleted = Fact<'ChannelsDeleted', { readonly channelIds: readonly number[] }>

/** The tag of channels was set. An empty `tag` means that the tag was removed. */
export type ChannelsTagged = Fact<
  'ChannelsTagged',
  { readonly channelIds: readonly number[]; readonly tag: string }
>

export type TagTermsChanged = Fact<
  'TagTermsChanged',
  {
    readonly tag: string
    readonly channelIds: readonly number[]
    readonly change: TagChange
  }
>

/**
 * A key of a channel with several keys failed and is temporarily not used. `reason` is an error
 * code or the provider's HTTP status, but never the provider's text.
 */
export type ChannelKeySetAside = Fact<
  'ChannelKeySetAside',
  { readonly channelId: number; readonly keyRef: string; readonly reason: string }
>

export type ChannelKeysTakenBack = Fact<
  'ChannelKeysTakenBack',
  { readonly channelId: number; readonly keyRefs: readonly string[] }
>

/**
 * Submissions of tasks and batches to the channels were paused. During the pause, the unfinished
 * tasks and batches are counted, so that a deletion or a removal of keys can't miss any of them.
 * `pause` is the id of the pause, and `pausedAt` is in Unix milliseconds. A pause expires after a
 * minute.
 */
export type ChannelSubmissionsPaused = Fact<
  'ChannelSubmissionsPaused',
  { readonly channelIds: readonly number[]; readonly pause: string; readonly pausedAt: number }
>

export type ChannelSubmissionsResumed = Fact<
  'ChannelSubmissionsResumed',
  { readonly channelIds: readonly number[]; readonly pause: string }
>

/** An admin requested that each process reloads its cached channels. */
export type ChannelAbilitiesFixed = Fact<'ChannelAbilitiesFixed', { readonly count: number }>

export type ChannelEvent =
  | ChannelsCreated
  | ChannelTermsChanged
  | ChannelsEnabled
  | ChannelsDisabled
  | ChannelAutoDisabled
  | ChannelsDeleted
  | ChannelsTagged
  | TagTermsChanged
  | ChannelKeySetAside
  | ChannelKeysTakenBack
  | ChannelSubmissionsPaused
  | ChannelSubmissionsResumed
  | ChannelAbilitiesFixed
