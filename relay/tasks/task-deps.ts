import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { FailedKeys } from '#relay/limits/failed-keys.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import type { Acceptances } from './acceptances.ts'
import type { Permits } from './permits.ts'
import type { TaskLedger } from './task-ledger.ts'

/** The dependencies of all task code. */
export type TaskDeps = RelayDeps & {
  readonly ledger: TaskLedger
  readonly acceptances: Acceptances
  /** Connects to providers under the operator's policy, like all connections of the relay. */
  readonly providerOutbound: Outbound
  /** Connects to addresses that providers name, which must be public. */
  readonly publicOutbound: Outbound
  /** Connects to providers for pictures of any size. */
  readonly pictureOutbound: Outbound
  readonly picturePermits: Permits
  /** Limits polls of providers. */
  readonly pollPermits: Permits
  /** Counts requests for unknown tasks by address. */
  readonly guesses: FailedKeys
  readonly progress: Progress
}
