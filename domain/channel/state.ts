import type { ChannelTerms } from './events.ts'

export type ChannelStatus = 'enabled' | 'disabled' | 'auto-disabled'

export type KnownChannel = {
  readonly channelId: number
  readonly terms: ChannelTerms
  readonly keyRef: string
  readonly status: ChannelStatus
  readonly isDeleted: boolean
}

/** null: never created. */
export type ChannelState = { readonly channel: KnownChannel | null }

export const initialChannel = (): ChannelState => ({ channel: null })
