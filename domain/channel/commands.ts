import type { ChannelTerms } from './events.ts'

export type CreateChannel = {
  readonly type: 'CreateChannel'
  readonly channelId: number
  readonly terms: ChannelTerms
  readonly keyRef: string
}

/** `keyRef` null keeps the key; a new address or kind needs a new key. */
export type ChangeTerms = {
  readonly type: 'ChangeTerms'
  readonly terms: ChannelTerms
  readonly keyRef: string | null
}

export type EnableChannel = { readonly type: 'EnableChannel' }

export type DisableChannel = { readonly type: 'DisableChannel' }

/** `reason` is a code or provider status, never a provider's text. */
export type AutoDisableChannel = { readonly type: 'AutoDisableChannel'; readonly reason: string }

export type DeleteChannel = { readonly type: 'DeleteChannel' }

export type ChannelCommand =
  | CreateChannel
  | ChangeTerms
  | EnableChannel
  | DisableChannel
  | AutoDisableChannel
  | DeleteChannel
