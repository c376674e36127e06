import type { Recorded } from '#domain/shared/event.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'

/**
 * The events of several lanes (partitions of the streams) that are folded together. `spans` has the
 * start and end position of each lane. `events` contains all events of the lanes between these
 * positions.
 */
export type Segment = {
  readonly spans: ReadonlyMap<number, { readonly after: number; readonly position: number }>
  readonly events: readonly Recorded[]
}

/**
 * Joins batches of different lanes (partitions of the streams) into one segment, so that they can
 * be written in one transaction. The events of one lane stay in order. The order of events of
 * different lanes is arbitrary.
 */
export const segmentOf = (batches: readonly LaneBatch[]): Segment => ({
  spans: new Map(
    batches.flatMap(({ lanes, after, position }) =>
      lanes.map((lane) => [lane, { after, position }] as const),
    ),
  ),
  events: batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((b) => b.events),
})
