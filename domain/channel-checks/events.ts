import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Fact } from '../shared/event.ts'

export const channelChecksStream = (channelId: number): string => `channel-checks-${channelId}`

/** The stream that records the start and the end of each test of all channels. */
export const TEST_RUNS_STREAM = 'channel-test-runs'

/**
 * A short chat request was sent to a channel as a test. No user pays for the test. The event
 * contains the provider's token counts, which are null if the provider reported none.
 */
export type ChannelTested = Fact<
  'ChannelTested',
  {
    readonly channelId: number
    readonly model: string
    readonly isSuccess: boolean
    readonly durationMs: number
    /**
     * The reason of a failure: an error code or the provider's status, never the provider's text.
     * It is empty if the test succeeded.
     */
    readonly reason: string
    readonly usage: { readonly input: number; readonly output: number } | null
    /** The id of the run that tested all channels. It is null if only this channel was tested. */
    readonly run: string | null
  }
>

/** The provider reported the channel's remaining balance, as decimal text in US dollars. */
type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/** A test of all channels has started. If an earlier run is still open, it counts as ended. */
type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded

/** The state of the test runs. `open` is the id of the run that has not ended, or null. */
type TestRuns = { readonly open: string | null }

type TestRunError = CodedError<'TestRunOver'>

const NONE: TestRuns = Object.freeze({ open: null })

export const testRunsDecider: Decider<TestRuns, TestRunCommand, TestRunEvent, TestRunError> = {
  initialState: () => NONE,
  decide: (command, { open }) => {
    const { run } = command
    if (command.type === 'StartTestRun') {
      if (open === run) return []
      return [{ type: 'ChannelTestRunStarted', v: 1, data: { run, total: command.total } }]
    }
    // Another process has started a later run, so the result of this run is not recorded.
    if (open !== run) return codedError('TestRunOver')
    const { tested, failed } = command
    return [{ type: 'ChannelTestRunEnded', v: 1, data: { run, tested, failed } }]
  },
  evolve: (_state, event) =>
    event.type === 'ChannelTestRunStarted' ? { open: event.data.run } : NONE,
  snapshot: {
    version: 1,
    encode: ({ open }) => ({ open }),
    decode: (stored) => ({ open: (stored as TestRuns).open }),
  },
}

type RecordTest = { readonly type: 'RecordTest' } & ChannelTested['data']

type RecordBalance = { readonly type: 'RecordBalance' } & ChannelBalanceRead['data']

export type ChannelChecksCommand = RecordTest | RecordBalance

type StartTestRun = {
  readonly type: 'StartTestRun'
  readonly run: string
  readonly total: number
}

type EndTestRun = {
  readonly type: 'EndTestRun'
  readonly run: string
  readonly tested: number
  readonly failed: number
}

type TestRunCommand = StartTestRun | EndTestRun
