import type { Recorded } from '#domain/shared/event.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'

/** `events` contains every event of each lane between the two positions. */
export type Segment = {
  readonly spans: ReadonlyMap<number, { readonly after: number; readonly position: number }>
  readonly events: readonly Recorded[]
}

/**
 * Joins batches of different lanes into one segment, so that batches which a bus delivers lane by
 * lane are written in one transaction. Events keep their order within each lane, which is all that
 * matters.
 */
export const segmentOf = (batches: readonly LaneBatch[]): Segment => ({
  spans: new Map(
    batches.flatMap(({ lanes, after, position }) =>
      lanes.map((lane) => [lane, { after, position }] as const),
    ),
  ),
  events: batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((b) => b.events),
})
