import { setTimeout as delay } from 'node:timers/promises'
import { httpError } from '#infra/http/http-errors.ts'
import { countOpenBatchesOf } from '#projections/open-batches/query.ts'
import {
  countOpenTasksOf,
  countSubmissions,
  findSubmissions,
} from '#projections/open-tasks/query.ts'
import type { Deps } from '../action.ts'

/** The unfinished work of channels. Nobody can fetch or bill it without their keys. */
export type WorkInFlight = {
  readonly tasks: number
  readonly batches: number
  /** The tasks that are being submitted to a provider that is not known yet. */
  readonly submissions: number
}

const FRESH_WITHIN_MS = 2_000
const SUBMITTED_WITHIN_MS = 5_000
const ASK_EVERY_MS = 50

/** Waits until the counts below include everything that was recorded before this call. */
async function waitUntilFresh({ core, freshness }: Deps): Promise<void> {
  const position = await core.store.headPosition()
  const names = ['open-tasks', 'open-batches'] as const
  if (!(await freshness.waitFor(names, position, FRESH_WITHIN_MS))) throw httpError('Unavailable')
}

/**
 * Counts the unfinished tasks and batches of channels. If `keyRefs` is given, only those that were
 * submitted with one of these keys count.
 */
export async function countWorkOf(
  deps: Deps,
  channelIds: readonly number[],
  keyRefs?: readonly string[],
): Promise<WorkInFlight> {
  await waitUntilFresh(deps)
  const { db } = deps.core
  const tasks = await countOpenTasksOf(db, channelIds, keyRefs)
  return { tasks, batches: await countOpenBatchesOf(db, channelIds, keyRefs), submissions: 0 }
}

/**
 * Counts the unfinished work of channels that get no new work any more. A task that is being
 * submitted may have been sent to one of them. Its channel is known once the provider has answered,
 * so this waits for the answers to the tasks that are under way now. Those that stay unanswered
 * are counted, because any of these channels may have them.
 */
export async function countWorkAndSubmissions(
  deps: Deps,
  channelIds: readonly number[],
): Promise<WorkInFlight> {
  await waitUntilFresh(deps)
  const { db } = deps.core
  const underWay = await findSubmissions(db)
  const deadline = performance.now() + SUBMITTED_WITHIN_MS
  let submissions = underWay.length
  while (submissions > 0) {
    submissions = await countSubmissions(db, underWay)
    if (submissions === 0 || performance.now() > deadline) break
    await delay(ASK_EVERY_MS)
  }
  return { ...(await countWorkOf(deps, channelIds)), submissions }
}

export const isAnyIn = ({ tasks, batches, submissions }: WorkInFlight): boolean =>
  tasks + batches + submissions > 0
