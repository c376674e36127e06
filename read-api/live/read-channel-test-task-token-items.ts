import type { Core } from '#infra/core-dependencies.ts'
import { budgetsOf } from '#projections/balances/query.ts'
import {
  type ChannelCheck,
  changedChecks,
  latestTestRun,
  type TestRun,
} from '#projections/channel-checks/query.ts'
import { changedTasks, type PositionRange } from '#projections/tasks/query.ts'
import { touchedTokens } from '#projections/tokens/query.ts'
import type { ChannelCheckResult, TestPush } from '../contract/channel-actions.ts'
import type { LiveMessage } from '../contract/live-messages.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { type DecryptedTask, decryptTasks, taskPush } from '../tasks/task-response.ts'
import { tokenState } from '../tokens/list-tokens.ts'
import { cachedText, type LiveItem } from './shared-live-buffer.ts'

/**
 * Returns one item for admins if channels were tested, or balances of channels were read, in a
 * range of positions. The item also has the progress of the latest test of all channels. Returns an
 * empty list if the range contains no test and no balance query of a channel, and neither the start
 * nor the end of the latest test of all channels.
 */
export async function channelTestItems(
  core: Core,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<LiveItem[]> {
  const [checks, run] = await Promise.all([
    changedChecks(core.db, { after, upTo }),
    latestTestRun(core.db),
  ])
  const runPositions = run === null ? [] : [run.startedPosition, run.endedPosition]
  const positions = [
    ...checks.map(({ changedPosition }) => changedPosition),
    ...runPositions.filter((position) => position > after && position <= upTo),
  ]
  if (positions.length === 0) return []
  const data: TestPush = {
    kind: 'test',
    channels: checks.map(checkResult),
    run: run === null ? null : progressOf(run),
  }
  const position = Math.max(...positions)
  const message: LiveMessage = { type: 'event', topic: 'channels', position, data }
  const text = JSON.stringify(message)
  return [{ topic: 'channels', position, ownerId: null, textFor: () => text }]
}

const checkResult = (check: ChannelCheck): ChannelCheckResult => ({
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

/**
 * Returns an item for each task that changed in a range of positions. If more tasks changed than
 * the limit allows, the returned `upTo` is the position up to which all changed tasks are included.
 */
export async function taskItems(
  { core, progress }: Pick<ReadDeps, 'core' | 'progress'>,
  range: PositionRange,
): Promise<{ items: LiveItem[]; upTo: number }> {
  const rows = await changedTasks(core.db, range)
  const upTo = rows.length < range.limit ? range.upTo : (rows.at(-1)?.changedPosition ?? 0)
  const items = (await decryptTasks(core, progress, rows)).map((row): LiveItem => {
    const { changedPosition: position, userId: ownerId } = row
    const textFor = cachedText(
      (viewer): LiveMessage => ({
        type: 'event',
        topic: 'tasks',
        position,
        data: taskPush(row, viewer),
      }),
    )
    return { topic: 'tasks', position, ownerId, textFor, weight: weightOf(row) }
  })
  return { items, upTo }
}

/**
 * Returns the approximate size of a task in memory, in bytes. Each character of the task's JSON
 * counts as six bytes.
 */
const weightOf = (task: DecryptedTask): number => 6 * JSON.stringify(task).length

type TokenRange = { readonly after: number; readonly upTo: number; readonly userId?: number }

/**
 * Returns an item for each token that was changed or used in a range of positions. Only the owner
 * of the token receives the item.
 */
export async function tokenItems(core: Core, range: TokenRange): Promise<LiveItem[]> {
  const rows = await touchedTokens(core.db, range)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const budgets = await budgetsOf(core.db, ids)
  const now = Math.floor(core.now() / 1_000)
  return rows.map((row) => {
    const { id, userId, position, isDeleted } = row
    const message: LiveMessage = {
      type: 'event',
      topic: 'tokens',
      position,
      data: isDeleted ? { id, deleted: true } : tokenState(row, budgets.get(id), now),
    }
    const text = JSON.stringify(message)
    return { topic: 'tokens', position, ownerId: userId, isPrivate: true, textFor: () => text }
  })
}
