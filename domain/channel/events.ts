import type { DecimalText } from '../pricing/price.ts'
import type { Fact } from '../shared/event.ts'

/** The stream of all channels. A change of several channels is therefore one event. */
export const CHANNELS_STREAM = 'channels'

/**
 * The settings of a channel. Members with JSON text are stored as the admin typed them, after
 * validation, or are empty.
 */
export type ChannelTerms = {
  readonly name: string
  /** The provider type as a number, as on the wire. */
  readonly type: number
  /** The address without a trailing slash; empty if the default address of the type applies. */
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
  /** The expiry in unix seconds. -1 means never. */
  readonly expiredTime: number
  /** The limit of simultaneous calls; `maxRpm` limits calls per minute. 0 means no limit. */
  readonly maxConcurrency: number
  readonly maxRpm: number
  readonly modelMapping: string
  readonly statusCodeMapping: string
  readonly setting: string
  readonly paramOverride: string
  /** The provider's price as a multiple of the list price. It is omitted if it is unknown. */
  readonly costRatio?: DecimalText
  /**
   * The vault reference of the proxy with its credentials. It is omitted if the proxy has no
   * credentials, or if `setting` contains them, as in older events.
   */
  readonly proxyRef?: string
}

/**
 * How a key is chosen. An empty mode means that the channel has a single key. `random` picks one of
 * several keys at random, and `polling` uses the keys in turn.
 */
export type KeyMode = '' | 'random' | 'polling'

/** The references of a channel's keys, in the order in which the keys were entered. */
export type ChannelKeys = { readonly keyRefs: readonly string[]; readonly keyMode: KeyMode }

/** The settings that a change of a tag may set in every channel of the tag. */
export type TagChange = Partial<
  Pick<ChannelTerms, 'tag' | 'modelMapping' | 'groups' | 'models' | 'priority' | 'weight'>
>

export type NewChannel = {
  readonly channelId: number
  readonly name: string
  readonly keyRefs: readonly string[]
  /** The vault reference of this channel's proxy, as in the channel's terms. */
  readonly proxyRef?: string
}

export const termsOfNew = (terms: ChannelTerms, { name, proxyRef }: NewChannel): ChannelTerms => ({
  ...terms,
  name,
  ...(proxyRef === undefined ? {} : { proxyRef }),
})

/**
 * Several channels were created. `terms` apply to each channel, except for its name and the
 * credentials of its proxy.
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

/** The channels that an event changes. `tag` is set if all channels with the tag were changed. */
type ChannelsChange = { readonly channelIds: readonly number[]; readonly tag: string | null }

export type ChannelsEnabled = Fact<'ChannelsEnabled', ChannelsChange>

export type ChannelsDisabled = Fact<'ChannelsDisabled', ChannelsChange>

/** The gateway disabled a channel. `reason` is a code or a provider's status, never its text. */
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
 * One of several keys failed and is temporarily not used. `reason` is a code or a provider's
 * status, never the provider's text.
 */
export type ChannelKeySetAside = Fact<
  'ChannelKeySetAside',
  { readonly channelId: number; readonly keyRef: string; readonly reason: string }
>

export type ChannelKeysTakenBack = Fact<
  'ChannelKeysTakenBack',
  { readonly channelId: number; readonly keyRefs: readonly string[] }
>

/** An admin requested a reload. Every process that caches channels in memory reloads them. */
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
