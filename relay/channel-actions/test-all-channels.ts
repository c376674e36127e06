import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { latestTestRun, runResults } from '#projections/channel-checks/query.ts'
import { TestProgress, TestResults } from '#read-api/contract/channel-actions.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type ActionDeps, type ChannelAct, contextOf, visible } from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { TEST_RUNS_LEASE } from './test-runs.ts'

/**
 * `GET /api/channel/test`, for admins: tests all channels in the background; and how far that is,
 * `GET /api/channel/test/progress`; and what it found, `GET /api/channel/test/results`.
 */
export const testAllChannels: ChannelAct = (api, deps) => {
  api.get(
    '/api/channel/test',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Test all channels that are not turned off, in the background',
        response: { 200: Envelope(TestProgress) },
      },
    },
    async (request, reply) => {
      const started = await deps.runs.start(contextOf(deps, request))
      if (started === null) throw channelActionError('TestsRunning')
      await visible(deps, reply, started.position)
      return success(await progress(deps))
    },
  )
  api.get(
    '/api/channel/test/progress',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'How far the last test of all channels is',
        response: { 200: Envelope(TestProgress) },
      },
    },
    async () => success(await progress(deps)),
  )
  api.get(
    '/api/channel/test/results',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'What the last test of all channels found of each',
        response: { 200: Envelope(TestResults) },
      },
    },
    async () => success(await results(deps)),
  )
}

async function results({ core }: ActionDeps): Promise<TestResults> {
  const run = (await latestTestRun(core.db))?.run ?? ''
  const found = run === '' ? [] : await runResults(core.db, run)
  return {
    run,
    results: found.map(({ channelId: id, durationMs: duration, ...result }) => ({
      id,
      duration,
      ...result,
    })),
  }
}

async function progress({ core }: ActionDeps): Promise<TestProgress> {
  const run = await latestTestRun(core.db)
  if (run === null) return NONE
  const isOpen = run.endedTime === 0
  // A run whose process died has no end in the ledger, and nobody who holds its lease.
  const isRunning = isOpen && (await core.leases.holders(TEST_RUNS_LEASE)).has(TEST_RUNS_LEASE)
  return {
    run: run.run,
    is_running: isRunning,
    total: run.total,
    tested: run.tested,
    failed: run.failed,
    started_time: run.startedTime,
    ended_time: run.endedTime,
  }
}

const NONE: TestProgress = {
  run: '',
  is_running: false,
  total: 0,
  tested: 0,
  failed: 0,
  started_time: 0,
  ended_time: 0,
}
