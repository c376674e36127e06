import type { Fact } from '../shared/event.ts'

export const channelChecksStream = (channelId: number): string => `channel-checks-${channelId}`

/** The stream that records the start and the end of each test of all channels. */
export const TEST_RUNS_STREAM = 'channel-test-runs'

/**
 * A channel was tested with a short chat request. No user pays for this request. Token counts are
 * null if the provider did not report them.
 */
export type ChannelTested = Fact<
  'ChannelTested',
  {
    readonly channelId: number
    readonly model: string
    readonly isSuccess: boolean
    readonly durationMs: number
    /**
     * The gateway's error code or the provider's HTTP status, but never the provider's text. Empty
     * if the test succeeded.
     */
    readonly reason: string
    readonly usage: { readonly input: number; readonly output: number } | null
    /** The id of the run that tested all channels, or null if only this channel was tested. */
    readonly run: string | null
  }
>

/** The channel's remaining balance at the provider, as decimal text in US dollars. */
export type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/**
 * A test of all channels has started. If an earlier test of all channels has not ended, it counts
 * as ended.
 */
export type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

export type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded
