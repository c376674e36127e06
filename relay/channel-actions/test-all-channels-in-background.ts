import { randomUUID } from 'node:crypto'
import { testRunsDecider } from '#domain/channel-checks/decide.ts'
import { TEST_RUNS_STREAM } from '#domain/channel-checks/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { Lease } from '#infra/leases/exclusive-leases.ts'
import { relayChannels } from '#projections/channels/query.ts'
import { runInParallel } from '../run-in-parallel.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { isTestedInRuns } from './build-test-request.ts'
import { testChannel } from './send-channel-test.ts'
import { type ChannelCheckDeps, waitForCurrentViews } from './wait-until-views-are-current.ts'

/** The test runs of this process. A run tests all channels. */
export type TestRuns = {
  /** Starts a test run. Returns null if a run is already in progress in any process. */
  readonly start: (context: CommandContext) => Promise<{ total: number; position: number } | null>
  readonly stop: () => Promise<void>
}

/** The name of the lease that a process holds during a test run. */
export const TEST_RUNS_LEASE = 'channel-tests'

const AT_ONCE = 5
const LEASE_MS = 30_000
const TURNED_OFF = 2

/**
 * Tests all channels in the background. Channels that an admin has disabled are left out. Channels
 * whose tests need a file, or would create expensive tasks or images, are left out as well. A lease
 * ensures that only one test run is in progress among all processes. If the process of a test run
 * dies, the test run ends when its lease expires.
 */
export function createTestRuns(deps: ChannelCheckDeps): TestRuns {
  const { leases, log } = deps.core
  const stopping = new AbortController()
  let currentRun: Promise<void> | null = null
  let isStarting = false

  const begin = async (context: CommandContext) => {
    const lease = await leases.acquire(TEST_RUNS_LEASE, LEASE_MS)
    if (lease === null) return null
    try {
      const run = { id: randomUUID(), channelIds: await channelsToTest(deps), context, lease }
      const position = await record(deps, run)
      currentRun = execute(deps, run, stopping.signal)
        .catch((err: unknown) => log.warn({ err }, 'a test run of all channels failed'))
        .finally(() => {
          currentRun = null
        })
      return { total: run.channelIds.length, position }
    } catch (error) {
      await leases.release(lease).catch(() => {})
      throw error
    }
  }
  return {
    start: async (context) => {
      if (isStarting || currentRun !== null || stopping.signal.aborted) return null
      isStarting = true
      try {
        return await begin(context)
      } finally {
        isStarting = false
      }
    },
    stop: async () => {
      stopping.abort()
      await currentRun
    },
  }
}

type Run = {
  readonly id: string
  readonly channelIds: readonly number[]
  readonly context: CommandContext
  readonly lease: Lease
}

async function channelsToTest(deps: ChannelCheckDeps): Promise<readonly number[]> {
  await waitForCurrentViews(deps)
  const { rows } = await relayChannels(deps.core.db)
  return rows
    .filter(({ id, status }) => status !== TURNED_OFF && isTested(deps.views.channels.find(id)))
    .map(({ id }) => id)
    .toSorted((one, other) => one - other)
}

const isTested = (channel: RelayChannel | undefined): boolean =>
  channel !== undefined && isTestedInRuns(channel)

async function record(
  { actors }: ChannelCheckDeps,
  { id, channelIds, context }: Run,
): Promise<number> {
  const command = { type: 'StartTestRun', run: id, total: channelIds.length } as const
  const started = await actors.handle(testRunsDecider, TEST_RUNS_STREAM, command, context)
  if (!started.isDone) throw new Error('the start of a test run was refused')
  return started.position
}

async function execute(deps: ChannelCheckDeps, run: Run, stopped: AbortSignal): Promise<void> {
  const { actors, core, now } = deps
  const lost = new AbortController()
  const renewing = setInterval(() => renew(deps, run.lease, lost), LEASE_MS / 3)
  const counts = { tested: 0, failed: 0 }
  try {
    const signal = AbortSignal.any([stopped, lost.signal])
    await runInParallel(run.channelIds, AT_ONCE, signal, async (channelId) => {
      const isSuccess = await testOne(deps, run, channelId, signal)
      if (isSuccess === null) return
      counts.tested += 1
      if (!isSuccess) counts.failed += 1
    })
    if (lost.signal.aborted) return
    const context = { ...run.context, at: now() }
    const command = { type: 'EndTestRun', run: run.id, ...counts } as const
    await actors.handle(testRunsDecider, TEST_RUNS_STREAM, command, context)
  } finally {
    clearInterval(renewing)
    await core.leases.release(run.lease).catch(() => {})
  }
}

/**
 * Tests one channel. Returns whether the test succeeded, or null if there was no test or its result
 * could not be recorded.
 */
async function testOne(
  deps: ChannelCheckDeps,
  { id, context }: Run,
  channelId: number,
  signal: AbortSignal,
): Promise<boolean | null> {
  const channel = deps.views.channels.find(channelId)
  if (channel === undefined) return null
  const { actor, cause } = context
  try {
    const result = await testChannel(deps, { channel, actor, cause, run: id, signal })
    if (result.reason === 'draining') return null
    deps.applyTestResult(channel, result, context)
    return result.isSuccess
  } catch (err) {
    deps.core.log.warn({ err, channelId }, 'the result of a channel test could not be recorded')
    return null
  }
}

/** Renews the lease of a test run. If another process holds the lease, the run is aborted. */
function renew({ core }: ChannelCheckDeps, lease: Lease, lost: AbortController): void {
  core.leases.acquire(TEST_RUNS_LEASE, LEASE_MS).then(
    (kept) => {
      if (kept?.fence !== lease.fence) lost.abort()
    },
    () => {},
  )
}
