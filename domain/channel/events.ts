import type { Fact } from '../shared/event.ts'

export const channelStream = (channelId: number): string => `channel-${channelId}`

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
  readonly modelMapping: string
  readonly statusCodeMapping: string
  readonly setting: string
  readonly paramOverride: string
}

export type ChannelCreated = Fact<
  'ChannelCreated',
  { readonly channelId: number; readonly terms: ChannelTerms; readonly keyRef: string }
>

/** `keyRef` is the old one when the key did not change. */
export type ChannelTermsChanged = Fact<
  'ChannelTermsChanged',
  { readonly channelId: number; readonly terms: ChannelTerms; readonly keyRef: string }
>

export type ChannelEnabled = Fact<'ChannelEnabled', { readonly channelId: number }>

export type ChannelDisabled = Fact<'ChannelDisabled', { readonly channelId: number }>

/** Turned off by the gateway; `reason` is a code or provider status, never a provider's text. */
export type ChannelAutoDisabled = Fact<
  'ChannelAutoDisabled',
  { readonly channelId: number; readonly reason: string }
>

export type ChannelDeleted = Fact<'ChannelDeleted', { readonly channelId: number }>

export type ChannelEvent =
  | ChannelCreated
  | ChannelTermsChanged
  | ChannelEnabled
  | ChannelDisabled
  | ChannelAutoDisabled
  | ChannelDeleted
