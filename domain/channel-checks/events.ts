import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Fact } from '../shared/event.ts'

export const channelChecksStream = (channelId: number): string => `channel-checks-${channelId}`

/** The stream of the start and end of tests of all channels. */
export const TEST_RUNS_STREAM = 'channel-test-runs'

/**
 * A minimal chat was sent to a channel as a test. Nobody is billed for it, so the event keeps the
 * provider's token counts; null means that the provider reported none.
 */
export type ChannelTested = Fact<
  'ChannelTested',
  {
    readonly channelId: number
    readonly model: string
    readonly isSuccess: boolean
    readonly durationMs: number
    /** A code or a provider's status, never the text of a provider; empty for a success. */
    readonly reason: string
    readonly usage: { readonly input: number; readonly output: number } | null
    /** The id of the test run; null for a test of a single channel. */
    readonly run: string | null
  }
>

/**
 * The remaining balance of the channel's account, as its provider reports it: decimal text in US
 * dollars.
 */
type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/** A test of all channels has started. It ends an earlier run that has not ended. */
type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded

/** `open` is the id of the run that has started and not ended, or null. */
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
    // Another process has started a later run, so the result of this one is no longer recorded.
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
