import type { Core } from '#infra/core.ts'
import {
  type ChannelCheck,
  changedChecks,
  latestTestRun,
  type TestRun,
} from '#projections/channel-checks/query.ts'
import type { ChannelChecked, TestPush } from '../contract/channel-action.ts'
import type { LiveMessage } from '../contract/live.ts'
import type { LiveItem } from './ring.ts'

/** What tests and balances came to in between, and how far the run over all is: for admins. */
export async function testItems(
  core: Core,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<LiveItem[]> {
  const [checks, run] = await Promise.all([
    changedChecks(core.db, { after, upTo }),
    latestTestRun(core.db),
  ])
  const turns = run === null ? [] : [run.startedPosition, run.endedPosition]
  const positions = [
    ...checks.map(({ changedPosition }) => changedPosition),
    ...turns.filter((position) => position > after && position <= upTo),
  ]
  if (positions.length === 0) return []
  const data: TestPush = {
    kind: 'test',
    channels: checks.map(checked),
    run: run === null ? null : progressOf(run),
  }
  const position = Math.max(...positions)
  const message: LiveMessage = { type: 'event', topic: 'channels', position, data }
  const text = JSON.stringify(message)
  return [{ topic: 'channels', position, ownerId: null, textFor: () => text }]
}

const checked = (check: ChannelCheck): ChannelChecked => ({
  id: check.channelId,
  response_time: check.responseTime,
  test_time: check.testTime,
  balance: Number(check.balance),
  balance_updated_time: check.balanceUpdatedTime,
  model: check.model,
  is_success: check.isSuccess,
  reason: check.reason,
})

const progressOf = (run: TestRun) => ({
  run: run.run,
  is_running: run.endedTime === 0,
  total: run.total,
  tested: run.tested,
  failed: run.failed,
  started_time: run.startedTime,
  ended_time: run.endedTime,
})
