import type { Core } from '#infra/core.ts'
import type { Progress } from '#infra/progress/progress.ts'
import { openTaskOwners } from '#projections/tasks/query.ts'
import { percentOf } from '../tasks/task-answer.ts'
import { onceASecond } from './once-a-second.ts'
import type { LiveSession } from './session.ts'

const ROWS_MAX = 1_000

/** Passes on how far tasks are, as long as somebody may see it. Answers how to stop. */
export function feedProgress(
  { db, log }: Pick<Core, 'db' | 'log'>,
  progress: Progress,
  sessions: () => Iterable<LiveSession>,
): () => void {
  let mark: number | null = null
  const pass = async (): Promise<void> => {
    const watching = [...sessions()].filter(({ wantsTasks }) => wantsTasks)
    // What was before somebody looked is read with the lists.
    if (watching.length === 0) mark = null
    else if (mark === null) mark = await progress.mark()
    else {
      const changed = await progress.changedAfter(mark, ROWS_MAX)
      mark = changed.at(-1)?.mark ?? mark
      if (changed.length === 0) return
      const texts = new Map(changed.map(({ id, text }) => [id, percentOf(text)]))
      const owners = await openTaskOwners(db, [...texts.keys()])
      const rows = owners.map(({ id, userId }) => ({ id, userId, progress: texts.get(id) ?? '0%' }))
      for (const session of watching) session.passProgress(rows)
    }
  }
  return onceASecond(pass, (err) => log.warn({ err }, 'no progress of tasks could be read'))
}
