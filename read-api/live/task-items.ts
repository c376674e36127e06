import { changedTasks, type PositionRange } from '#projections/tasks/query.ts'
import type { LiveMessage } from '../contract/live.ts'
import type { ReadDeps } from '../question.ts'
import { type OpenedTask, openTasks, taskPush } from '../tasks/task-answer.ts'
import { cachedText, type LiveItem } from './ring.ts'

/** Drawings and music tasks that changed in between, as they are now, and how far that goes. */
export async function taskItems(
  { core, progress }: Pick<ReadDeps, 'core' | 'progress'>,
  wanted: PositionRange,
): Promise<{ items: LiveItem[]; upTo: number }> {
  const rows = await changedTasks(core.db, wanted)
  const upTo = rows.length < wanted.limit ? wanted.upTo : (rows.at(-1)?.changedPosition ?? 0)
  const items = (await openTasks(core, progress, rows)).map((row): LiveItem => {
    const { changedPosition: position, userId: ownerId } = row
    const textFor = cachedText(
      (viewer): LiveMessage => ({
        ...{ type: 'event', topic: 'tasks', position },
        data: taskPush(row, viewer),
      }),
    )
    return { topic: 'tasks', position, ownerId, textFor, weight: weightOf(row) }
  })
  return { items, upTo }
}

/** The row and a text or two made of it; two bytes to a character, as most scripts take. */
const weightOf = ({ texts, songs }: OpenedTask): number => 6 * JSON.stringify([texts, songs]).length
