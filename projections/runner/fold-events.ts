import { assert } from '#domain/shared/assert.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { isUnavailable } from '#infra/postgres/query-timeouts.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { RowChanges } from './row-changes.ts'

/**
 * The error for an event that cannot be folded. The projection stops before this event and does not
 * skip it.
 */
export class PoisonEvent extends Error {
  readonly position: number
  readonly type: string
  constructor(event: Recorded, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(`${event.type} at position ${event.position}: ${why}`, { cause })
    this.name = 'PoisonEvent'
    this.position = event.position
    this.type = event.type
  }
}

export type EventFilter = (event: Recorded) => boolean

/**
 * Folds the events that `matches` selects into `rows`, without writing. If `matches` is null, all
 * events are folded. Throws `PoisonEvent` for an event that cannot be folded.
 */
export async function fold(
  projection: Projection,
  events: readonly Recorded[],
  matches: EventFilter | null,
  context: FoldContext,
  rows = new RowChanges(),
): Promise<RowChanges> {
  for (const event of events) {
    const handler = projection.handlers.get(event.type)
    if (handler === undefined || matches?.(event) === false) continue
    try {
      const newest = projection.newest?.[event.type] ?? 1
      assert(event.v <= newest, () => `version ${event.v} is newer than this release`)
      const pending = handler(event, rows, context)
      if (pending !== undefined) await pending
    } catch (error) {
      if (isOutage(error)) throw error
      throw new PoisonEvent(event, error)
    }
  }
  return rows
}

/**
 * Reports whether the connection or a temporary state of the database caused the error, so that the
 * work must be retried. Errors in data or statements are recognized by their SQLSTATE class.
 */
export function isOutage(error: unknown): boolean {
  if (isUnavailable(error)) return true
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    return !/^[0-9A-Z]{5}$/.test(code) || !/^(21|22|23|42|44|P0)/.test(code)
  }
  const message = error instanceof Error ? error.message : ''
  return /connection (terminated|ended|error)|timeout exceeded|client has encountered/i.test(
    message,
  )
}
