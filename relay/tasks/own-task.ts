import type { KnownTask } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import type { TaskDeps } from './task-deps.ts'

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether some task may have this id: nothing is read for others. */
export const isTaskId = (id: string): boolean => TASK_ID.test(id)

/** The task of this id, where it is the caller's: that of another user is as none. */
export async function ownTask(
  { ledger }: Pick<TaskDeps, 'ledger'>,
  { user }: Caller,
  kind: TaskKind,
  id: string,
): Promise<KnownTask | null> {
  const known = isTaskId(id) ? await ledger.glance(id) : null
  if (known === null) return null
  const { userId, kind: own } = known.submitted
  return userId === user.userId && own === kind ? known : null
}
