import type { DecimalText } from '../pricing/price.ts'
import type { Fact } from '../shared/event.ts'

/** All channels share one stream, so that a change of several channels is one event. */
export const CHANNELS_STREAM = 'channels'

/** The settings of a channel. JSON members are kept as typed, or empty; they were validated. */
export type ChannelTerms = {
  readonly name: string
  /** The provider type as a number, as on the wire. */
  readonly type: number
  /** Without a trailing slash; empty for the default address of the type. */
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
  /** Unix seconds; -1 means never. */
  readonly expiredTime: number
  /** The most calls at a time, and per minute; 0 means no limit. */
  readonly maxConcurrency: number
  readonly maxRpm: number
  readonly modelMapping: string
  readonly statusCodeMapping: string
  readonly setting: string
  readonly paramOverride: string
  /** The provider's price as a multiple of the list price; omitted where it is unknown. */
  readonly costRatio?: DecimalText
  /**
   * The vault reference of the proxy with its credentials. Omitted where the proxy has none, or
   * where `setting` itself has them (older events).
   */
  readonly proxyRef?: string
}

/** How a key is chosen: the channel has a single key, one of several at random, or each in turn. */
export type KeyMode = '' | 'random' | 'polling'

/** The references of the keys, in the order in which they were entered. */
export type ChannelKeys = { readonly keyRefs: readonly string[]; readonly keyMode: KeyMode }

/** The settings that a change of a tag may set in every channel of the tag. */
export type TagChange = Partial<
  Pick<ChannelTerms, 'tag' | 'modelMapping' | 'groups' | 'models' | 'priority' | 'weight'>
>

export type NewChannel = {
  readonly channelId: number
  readonly name: string
  readonly keyRefs: readonly string[]
  /** The reference of this channel's proxy, as in its terms. */
  readonly proxyRef?: string
}

export const termsOfNew = (terms: ChannelTerms, { name, proxyRef }: NewChannel): ChannelTerms => ({
  ...terms,
  name,
  ...(proxyRef === undefined ? {} : { proxyRef }),
})

/** `terms` apply to each channel, except for its name and the credentials of its proxy. */
export type ChannelsCreated = Fact<
  'ChannelsCreated',
  {
    readonly terms: ChannelTerms
    readonly channels: readonly NewChannel[]
    readonly keyMode: KeyMode
    readonly isEnabled: boolean
  }
>

/** The new terms and keys, and the references that they no longer use. */
export type ChannelTermsChanged = Fact<
  'ChannelTermsChanged',
  ChannelKeys & {
    readonly channelId: number
    readonly terms: ChannelTerms
    readonly droppedKeyRefs: readonly string[]
    readonly droppedProxyRef?: string
  }
>

/** `tag` is set where the change was made for all channels of a tag. */
type ChannelsChange = { readonly channelIds: readonly number[]; readonly tag: string | null }

export type ChannelsEnabled = Fact<'ChannelsEnabled', ChannelsChange>

export type ChannelsDisabled = Fact<'ChannelsDisabled', ChannelsChange>

/** The gateway disabled the channel; `reason` is a code or a provider's status, never its text. */
export type ChannelAutoDisabled = Fact<
  'ChannelAutoDisabled',
  { readonly channelId: number; readonly reason: string }
>

export type ChannelsDeleted = Fact<'ChannelsDeleted', { readonly channelIds: readonly number[] }>

/** An empty `tag` means that the tag was removed. */
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

/** One of several keys failed and is not used for now; `reason` is as in `ChannelAutoDisabled`. */
export type ChannelKeySetAside = Fact<
  'ChannelKeySetAside',
  { readonly channelId: number; readonly keyRef: string; readonly reason: string }
>

export type ChannelKeysTakenBack = Fact<
  'ChannelKeysTakenBack',
  { readonly channelId: number; readonly keyRefs: readonly string[] }
>

/** Makes every process that keeps channels in memory reload them. */
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
