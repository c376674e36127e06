import type { TaskKind } from '#domain/tasks/events.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import type { FailedKeys } from '#relay/limits/block-key-guessing.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import type { AcceptedTaskWriter } from './accepted-task-writer.ts'
import type { Permits } from './limit-concurrent-work.ts'
import type { FileAddressLookups } from './look-up-expired-file-addresses.ts'
import type { TaskLedger } from './task-ledger.ts'

/**
 * Returns the ids of a user's tasks of one kind, newest first, or oldest first if `isOldestFirst`
 * is true. If `after` is a task id, returns only tasks that come after this task in this order. A
 * page may be found by its `offset` instead. With an `action`, returns only tasks with this action
 * that are not deleted.
 */
export type FindRecentTasks = (query: {
  readonly userId: number
  readonly kind: TaskKind
  readonly after: string | null
  readonly limit: number
  readonly isOldestFirst: boolean
  readonly offset?: number
  readonly action?: string
}) => Promise<readonly string[]>

export type TaskDeps = RelayDeps & {
  readonly ledger: TaskLedger
  readonly acceptedTasks: AcceptedTaskWriter
  /** Connects to providers under the operator's outbound policy. */
  readonly providerOutbound: Outbound
  /** Connects to providers to fetch pictures of any size. */
  readonly pictureOutbound: Outbound
  readonly picturePermits: Permits
  readonly videoPermits: Permits
  readonly pollPermits: Permits
  readonly fileLookups: FileAddressLookups
  /** Counts requests for unknown task ids by IP address, to stop clients that guess ids. */
  readonly guesses: FailedKeys
  readonly progress: TaskProgress
  readonly findRecentTasks: FindRecentTasks
}
