import type { Recorded } from '#domain/shared/event.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'

/**
 * A range of events that is folded together. `spans` has a start and an end position for each lane
 * (partition of the streams), and `events` contains every event of each lane between these
 * positions.
 */
export type Segment = {
  readonly spans: ReadonlyMap<number, { readonly after: number; readonly position: number }>
  readonly events: readonly Recorded[]
}

/**
 * Joins batches of different lanes (partitions of the streams) into one segment, so that one
 * transaction can write them. Events keep their order within each lane; their order across lanes
 * does not matter.
 */
export const segmentOf = (batches: readonly LaneBatch[]): Segment => ({
  spans: new Map(
    batches.flatMap(({ lanes, after, position }) =>
      lanes.map((lane) => [lane, { after, position }] as const),
    ),
  ),
  events: batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((b) => b.events),
})
