import { TASK_MS_MAX } from '#domain/tasks/decide.ts'

/**
 * The time in milliseconds for which a provider may give no readable answer about a task before the
 * task can be expired. The time begins with the first status query without an answer and not with
 * the submission, so that a task is not expired because the gateway itself was down.
 */
const UNANSWERED_MS_MAX = TASK_MS_MAX
/**
 * The shorter time in milliseconds after which a task that is older than `OLD_MS` can be expired.
 * The times of the first queries are lost when a process ends. With the longer time, tasks would
 * therefore stay open while processes restart more often than once per hour. Most vendors keep
 * files only for a day, so a longer wait would gain little.
 */
const OLD_UNANSWERED_MS_MAX = 600_000
const OLD_MS = 24 * 3_600_000

/**
 * Remembers for each open task since when its provider has not answered queries about the task's
 * status. An old task may be finished at its provider. Therefore, the task expires only after its
 * provider was asked and either reported no outcome or gave no answer for too long.
 */
export class UnansweredStatusQueries {
  /** The times of the first queries without an answer, in Unix milliseconds, by task id. */
  private readonly since = new Map<string, number>()

  /** Records that a query about the task got no readable answer at the time `now`. */
  add(task: string, now: number): void {
    if (!this.since.has(task)) this.since.set(task, now)
  }

  remove(task: string): void {
    this.since.delete(task)
  }

  /** Forgets the queries about all tasks that are not among the open tasks. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const task of this.since.keys()) if (!open.has(task)) this.since.delete(task)
  }

  /** Reports whether the task may expire, because its provider has not answered for too long. */
  mayExpireUnanswered(
    { task, submittedAt }: { readonly task: string; readonly submittedAt: number },
    now: number,
  ): boolean {
    const since = this.since.get(task)
    const max = now - submittedAt > OLD_MS ? OLD_UNANSWERED_MS_MAX : UNANSWERED_MS_MAX
    return since !== undefined && now - since > max
  }
}
