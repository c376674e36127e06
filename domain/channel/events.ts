import type { DecimalText } from '../pricing/price.ts'
import type { Fact } from '../shared/event.ts'

/**
 * The stream of all channels. Because all channels share this stream, a change of several channels
 * is one event.
 */
export const CHANNELS_STREAM = 'channels'

/**
 * The settings of a channel. Fields with JSON text are validated and then stored as the admin typed
 * them. They may be empty.
 */
export type ChannelTerms = {
  readonly name: string
  /** The provider type, as the number that the API uses. */
  readonly type: number
  /**
   * The address without a trailing slash. It is empty if the default address of the provider type
   * applies.
   */
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
  /** The expiry in unix seconds, or -1 if the channel never expires. */
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
  /**
   * The provider's price as a multiple of the list price. The ratio is omitted if the price is
   * unknown.
   */
  readonly costRatio?: DecimalText
  /**
   * The vault reference of the proxy address with its credentials. It is omitted if the proxy has
   * no credentials. In older events, `setting` contains the credentials instead.
   */
  readonly proxyRef?: string
}

/**
 * The way in which a call's key is chosen. An empty text means that the channel has a single key.
 * With `random`, one of several keys is chosen at random. With `polling`, the keys are used one
 * after another.
 */
export type KeyMode = '' | 'random' | 'polling'

/** The references of a channel's keys, in the order in which the keys were entered. */
export type ChannelKeys = { readonly keyRefs: readonly string[]; readonly keyMode: KeyMode }

/** The settings that an admin can change for all channels with a tag. */
export type TagChange = Partial<
  Pick<ChannelTerms, 'tag' | 'modelMapping' | 'groups' | 'models' | 'priority' | 'weight'>
>

export type NewChannel = {
  readonly channelId: number
  readonly name: string
  readonly keyRefs: readonly string[]
  /** The vault reference of this channel's proxy (see `ChannelTerms.proxyRef`). */
  readonly proxyRef?: string
}

export const termsOfNew = (terms: ChannelTerms, { name, proxyRef }: NewChannel): ChannelTerms => ({
  ...terms,
  name,
  ...(proxyRef === undefined ? {} : { proxyRef }),
})

/**
 * Several channels were created. `terms` apply to all channels, except that each channel has its
 * own name and its own proxy reference.
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
 * The terms or keys of a channel were changed. The event has the new terms and keys, and the vault
 * references that are no longer used.
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
 * The channels that an event changes. `tag` is the tag by which the admin selected the channels, or
 * null.
 */
type ChannelsChange = { readonly channelIds: readonly number[]; readonly tag: string | null }

export type ChannelsEnabled = Fact<'ChannelsEnabled', ChannelsChange>

export type ChannelsDisabled = Fact<'ChannelsDisabled', ChannelsChange>

/**
 * The gateway disabled a channel. `reason` is an error code or the provider's status, never the
 * provider's text.
 */
export type ChannelAutoDisabled = Fact<
  'ChannelAutoDisabled',
  { readonly channelId: number; readonly reason: string }
>

export type ChannelsDeleted = Fact<'ChannelsDeleted', { readonly channelIds: readonly number[] }>

/** The tag of several channels was changed. An empty `tag` means that the tag was removed. */
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
 * One of several keys failed and is temporarily not used. `reason` is an error code or the
 * provider's status, never the provider's text.
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
 * An admin requested a reload of the channels. Each process with cached channels then reloads them.
 */
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
  | ChannelAbilitiesFixed
