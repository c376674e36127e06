import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { FailedKeys } from '#relay/limits/failed-keys.ts'
import type { RelayParts } from '#relay/pipeline/relay-parts.ts'
import type { Acceptances } from './acceptances.ts'
import type { Seats } from './seats.ts'
import type { TaskBooks } from './task-books.ts'

/** What everything about tasks is given. */
export type TaskParts = RelayParts & {
  readonly books: TaskBooks
  readonly acceptances: Acceptances
  /** To providers, under the operator's policy, as all of the relay's connections. */
  readonly side: Outbound
  /** To addresses that providers name: public ones alone. */
  readonly elsewhere: Outbound
  /** To providers, as `side`, for pictures: of any size. */
  readonly pictures: Outbound
  readonly pictureSeats: Seats
  /** For asking providers about tasks. */
  readonly pollSeats: Seats
  /** Addresses that ask for tasks that are none. */
  readonly guesses: FailedKeys
  readonly progress: Progress
}
