import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
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
type ChannelBalanceRead = Fact<
  'ChannelBalanceRead',
  { readonly channelId: number; readonly balance: string }
>

export type ChannelChecksEvent = ChannelTested | ChannelBalanceRead

/** All channels are being tested; a run before it that did not end is over with this. */
type ChannelTestRunStarted = Fact<
  'ChannelTestRunStarted',
  { readonly run: string; readonly total: number }
>

type ChannelTestRunEnded = Fact<
  'ChannelTestRunEnded',
  { readonly run: string; readonly tested: number; readonly failed: number }
>

export type TestRunEvent = ChannelTestRunStarted | ChannelTestRunEnded

/** The run that has begun and not ended. */
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
    // Another process has taken over since: it is that run's story now.
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
