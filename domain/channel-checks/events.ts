import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Fact } from '../shared/event.ts'

export const channelChecksStream = (channelId: number): string => `channel-checks-${channelId}`

/** The stream that records the start and the end of each test of all channels. */
export const TEST_RUNS_STREAM = 'channel-test-runs'

/**
 * A channel was tested with a short chat request, which no user pays for. Token counts are null if
 * the provider did not report them.
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
type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/** A test of all channels has started. An earlier run that has not ended counts as ended. */
type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded

/**
 * The state of the runs that test all channels. `open` is the id of the run that has not ended, or
 * null.
 */
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
    // Another process has started a later run.
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

/**
 * The state is always empty, because decisions about a channel test do not depend on earlier tests.
 */
export type ChannelChecks = Readonly<Record<string, never>>

const NOTHING: ChannelChecks = Object.freeze({})

export const channelChecksDecider: Decider<
  ChannelChecks,
  ChannelChecksCommand,
  ChannelChecksEvent,
  CodedError<never>
> = {
  initialState: () => NOTHING,
  decide: ({ type, ...data }) => [
    'balance' in data
      ? { type: 'ChannelBalanceRead', v: 1, data }
      : { type: 'ChannelTested', v: 1, data },
  ],
  evolve: () => NOTHING,
  snapshot: { version: 1, encode: () => ({}), decode: () => NOTHING },
}
