import type { TaskPush } from '#read-api/contract/tasks.ts'
import type { AnyTask, TaskKind, TaskPage } from './task-kind.ts'

/**
 * Applies live events (`pushes`) to the tasks of a page. `hasNew` is true if an event is about a
 * task that is newer than all tasks of the page.
 */
export function withPushes<Task extends AnyTask>(
  page: TaskPage<Task>,
  pushes: readonly TaskPush[],
  { name, idOf }: Pick<TaskKind<Task>, 'name' | 'idOf'>,
): { page: TaskPage<Task>; hasNew: boolean } {
  const moved = new Map<number, Task>()
  const reached = new Map<string, string>()
  for (const push of pushes) {
    if (push.kind === name) moved.set(push.id, push.task as Task)
    else if (push.kind === 'progress') {
      for (const { id, progress } of push.tasks) reached.set(id, progress)
    }
  }
  const newest = Math.max(0, ...page.items.map(({ id }) => id))
  const hasNew = [...moved.keys()].some((id) => id > newest)
  let isChanged = false
  const items = page.items.map((task) => {
    const now = moved.get(task.id) ?? task
    const progress = now.finish_time === 0 ? reached.get(idOf(now)) : undefined
    const next = progress === undefined ? now : { ...now, progress }
    isChanged ||= next !== task
    return next
  })
  return { page: isChanged ? { ...page, items } : page, hasNew }
}
