import type { Fact } from '../shared/event.ts'

export const channelChecksStream = (channelId: number): string => `channel-checks-${channelId}`

/** Where runs over all channels begin and end. */
export const TEST_RUNS_STREAM = 'channel-test-runs'

/**
 * One minimal chat was asked of a channel. Nobody is billed for it, so what the provider counted
 * stands here; null: it did not say.
 */
export type ChannelTested = Fact<
  'ChannelTested',
  {
    readonly channelId: number
    readonly model: string
    readonly isSuccess: boolean
    readonly durationMs: number
    /** A code or provider status, never a provider's text; empty for a success. */
    readonly reason: string
    readonly usage: { readonly input: number; readonly output: number } | null
    /** The run it is a part of; null: tested by itself. */
    readonly run: string | null
  }
>

/** What its provider says is left of the channel's account: decimal text, in US dollars. */
export type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/** All channels are being tested; a run before it that did not end is over with this. */
export type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

export type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded
