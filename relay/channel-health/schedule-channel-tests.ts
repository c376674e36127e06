import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import type { TestRuns } from '#relay/channel-actions/test-all-channels-in-background.ts'
import type { Views } from '#relay/views/start-views.ts'
import { SCHEDULER } from './apply-test-result.ts'

type TestSchedule = { readonly stop: () => Promise<void> }

type Deps = Pick<Core, 'log' | 'now'> & {
  readonly leases: Pick<Core['leases'], 'hold'>
  readonly views: Views
  readonly runs: Pick<TestRuns, 'start'>
  /** Returns the start time of the last test run in Unix seconds, or 0 if there was no test run. */
  readonly lastRunAt: () => Promise<number>
  /** The time in milliseconds between two checks whether a test run is due. */
  readonly lookMs?: number
}

const LEASE = 'channel-test-schedule'
const LOOK_MS = 15_000

/**
 * Tests all channels at the configured interval, in the relay process that holds the schedule's
 * lease. Every test run restarts the interval, even a run that an admin started.
 */
export function startTestSchedule(deps: Deps): TestSchedule {
  const { leases, log, lookMs = LOOK_MS } = deps
  return leases.hold(LEASE, async (_lease, lost) => {
    while (!lost.aborted) {
      await runIfDue(deps).catch((err: unknown) => {
        if (!lost.aborted) log.warn({ err }, 'a scheduled test of all channels could not begin')
      })
      await delay(lookMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
}

async function runIfDue({ views, runs, now, lastRunAt }: Deps): Promise<void> {
  const { everyMs } = views.options.options.health.tests
  if (everyMs === null) return
  const sinceMs = now() - (await lastRunAt()) * 1_000
  // A last run in the future means that the clock was set back. Such a run does not delay the next
  // run.
  if (sinceMs >= 0 && sinceMs < everyMs) return
  await runs.start({ actor: SCHEDULER, cause: null, at: now() })
}
