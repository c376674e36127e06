import type { Decider } from '../shared/decider.ts'
import { type Refusal, refuse } from '../shared/refusal.ts'
import type { TestRunCommand } from './commands.ts'
import type { TestRunEvent } from './events.ts'

/** The run that has begun and not ended. */
export type TestRuns = { readonly open: string | null }

export type TestRunRefusal = Refusal<'TestRunOver'>

const NONE: TestRuns = Object.freeze({ open: null })

export const testRunsDecider: Decider<TestRuns, TestRunCommand, TestRunEvent, TestRunRefusal> = {
  initialState: () => NONE,
  decide: (command, { open }) => {
    const { run } = command
    if (command.type === 'StartTestRun') {
      if (open === run) return []
      return [{ type: 'ChannelTestRunStarted', v: 1, data: { run, total: command.total } }]
    }
    // Another process has taken over since: it is that run's story now.
    if (open !== run) return refuse('TestRunOver')
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
