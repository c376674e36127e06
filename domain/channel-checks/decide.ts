import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type {
  ChannelBalanceRead,
  ChannelChecksEvent,
  ChannelTested,
  TestRunEvent,
} from './events.ts'

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
    // The run has already ended, or another process has started a later run.
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
