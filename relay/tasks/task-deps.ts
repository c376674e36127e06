import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { FailedKeys } from '#relay/limits/failed-keys.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import type { Acceptances } from './acceptances.ts'
import type { Permits } from './permits.ts'
import type { TaskLedger } from './task-ledger.ts'

/** What everything about tasks is given. */
export type TaskDeps = RelayDeps & {
  readonly ledger: TaskLedger
  readonly acceptances: Acceptances
  /** To providers, under the operator's policy, as all of the relay's connections. */
  readonly side: Outbound
  /** To addresses that providers name: public ones alone. */
  readonly elsewhere: Outbound
  /** To providers, as `side`, for pictures: of any size. */
  readonly pictures: Outbound
  readonly picturePermits: Permits
  /** For asking providers about tasks. */
  readonly pollPermits: Permits
  /** Addresses that ask for tasks that are none. */
  readonly guesses: FailedKeys
  readonly progress: Progress
}
