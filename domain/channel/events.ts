import type { DecimalText } from '../pricing/price.ts'
import type { Fact } from '../shared/event.ts'

/** All channels are one roster in one stream, so that what touches several is one event. */
export const CHANNELS_STREAM = 'channels'

/** What an admin sets. The texts are JSON as typed, or empty; their shape was checked. */
export type ChannelTerms = {
  readonly name: string
  /** Numeric provider kind, as on the wire. */
  readonly type: number
  /** Empty: the kind's default. Without a trailing slash. */
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
  /** Unix seconds; -1 never. */
  readonly expiredTime: number
  /** Calls at a time, and calls a minute; 0 no limit. */
  readonly maxConcurrency: number
  readonly maxRpm: number
  readonly modelMapping: string
  readonly statusCodeMapping: string
  readonly setting: string
  readonly paramOverride: string
  /** What its provider charges, as a multiple of the list price; left out: nobody said. */
  readonly costRatio?: DecimalText
  /** The proxy of `setting` with its login; left out: it has none, or it stands there (before). */
  readonly proxyRef?: string
}

/** Which of a channel's keys is taken: it has one; any of several; each in turn. */
export type KeyMode = '' | 'random' | 'polling'

/** References of the keys, in the order in which they were given. */
export type ChannelKeys = { readonly keyRefs: readonly string[]; readonly keyMode: KeyMode }

/** What a tag-wide change may set, in every channel of the tag. */
export type TagChange = Partial<
  Pick<ChannelTerms, 'tag' | 'modelMapping' | 'groups' | 'models' | 'priority' | 'weight'>
>

export type NewChannel = {
  readonly channelId: number
  readonly name: string
  readonly keyRefs: readonly string[]
  /** As of its terms: a secret of its own. */
  readonly proxyRef?: string
}

export const termsOfNew = (terms: ChannelTerms, { name, proxyRef }: NewChannel): ChannelTerms => ({
  ...terms,
  name,
  ...(proxyRef === undefined ? {} : { proxyRef }),
})

/** `terms` are those of each of them, but for the name and its proxy's login. */
export type ChannelsCreated = Fact<
  'ChannelsCreated',
  {
    readonly terms: ChannelTerms
    readonly channels: readonly NewChannel[]
    readonly keyMode: KeyMode
    readonly isEnabled: boolean
  }
>

/** Terms and keys as they are from now on; `droppedKeyRefs` and `droppedProxyRef` are of no use. */
export type ChannelTermsChanged = Fact<
  'ChannelTermsChanged',
  ChannelKeys & {
    readonly channelId: number
    readonly terms: ChannelTerms
    readonly droppedKeyRefs: readonly string[]
    readonly droppedProxyRef?: string
  }
>

/** `tag` where all channels of a tag were meant. */
type SeveralOf = { readonly channelIds: readonly number[]; readonly tag: string | null }

export type ChannelsEnabled = Fact<'ChannelsEnabled', SeveralOf>

export type ChannelsDisabled = Fact<'ChannelsDisabled', SeveralOf>

/** Turned off by the gateway; `reason` is a code or provider status, never a provider's text. */
export type ChannelAutoDisabled = Fact<
  'ChannelAutoDisabled',
  { readonly channelId: number; readonly reason: string }
>

export type ChannelsDeleted = Fact<'ChannelsDeleted', { readonly channelIds: readonly number[] }>

/** An empty `tag` was taken off. */
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

/** One of several keys failed and is not used for now; `reason` as of `ChannelAutoDisabled`. */
export type ChannelKeySetAside = Fact<
  'ChannelKeySetAside',
  { readonly channelId: number; readonly keyRef: string; readonly reason: string }
>

export type ChannelKeysTakenBack = Fact<
  'ChannelKeysTakenBack',
  { readonly channelId: number; readonly keyRefs: readonly string[] }
>

/** Whoever keeps channels in memory reads them anew. */
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
