import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { TaskProgress } from '#infra/task-progress/task-progress.ts'
import type { FailedKeys } from '#relay/limits/block-key-guessing.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import type { AcceptedTaskWriter } from './accepted-task-writer.ts'
import type { Permits } from './limit-concurrent-work.ts'
import type { TaskLedger } from './task-ledger.ts'

export type TaskDeps = RelayDeps & {
  readonly ledger: TaskLedger
  readonly acceptedTasks: AcceptedTaskWriter
  /** Connects to providers under the operator's outbound policy. */
  readonly providerOutbound: Outbound
  /** Connects to URLs that providers send, which must be public addresses. */
  readonly publicOutbound: Outbound
  /** Connects to providers to fetch pictures of any size. */
  readonly pictureOutbound: Outbound
  readonly picturePermits: Permits
  readonly pollPermits: Permits
  /** Counts requests for unknown tasks by IP address. */
  readonly guesses: FailedKeys
  readonly progress: TaskProgress
}
