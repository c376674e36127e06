import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { RelayParts } from '#relay/pipeline/relay-parts.ts'
import type { Acceptances } from './acceptances.ts'
import type { TaskBooks } from './task-books.ts'

/** What everything about tasks is given. */
export type TaskParts = RelayParts & {
  readonly books: TaskBooks
  readonly acceptances: Acceptances
  /** To providers, under the operator's policy, as all of the relay's connections. */
  readonly side: Outbound
  /** To addresses that providers name: public ones alone. */
  readonly elsewhere: Outbound
  readonly progress: Progress
}
