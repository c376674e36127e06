import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { latestTestRun, runResults } from '#projections/channel-checks/query.ts'
import {
  channelChecks,
  type TestProgress,
  type TestResults,
} from '#read-api/contract/channel-actions.ts'
import {
  type ActionDeps,
  type ChannelAction,
  contextOf,
  waitUntilVisible,
} from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { TEST_RUNS_LEASE } from './test-all-channels-in-background.ts'

/**
 * Serves three routes for admins. `GET /api/channel/test` starts a test of all channels,
 * `…/progress` reports its progress, and `…/results` reports the result of each channel.
 */
export const testAllChannels: ChannelAction = (api, deps) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/test'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const started = await deps.runs.start(contextOf(deps, request))
      if (started === null) throw channelActionError('TestsRunning')
      await waitUntilVisible(deps, reply, started.position)
      return success(await progress(deps))
    },
  })
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/test/progress'),
    onRequest: onlyAdmin,
    handler: async () => success(await progress(deps)),
  })
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/test/results'),
    onRequest: onlyAdmin,
    handler: async () => success(await results(deps)),
  })
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
  // A test run whose process died has no recorded end. A run is therefore in progress only while
  // some process holds its lease.
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
