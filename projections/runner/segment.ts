import type { Recorded } from '#domain/shared/event.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'

/** `events` is all there is in each lane between the two positions. */
export type Segment = {
  readonly spans: ReadonlyMap<number, { readonly after: number; readonly position: number }>
  readonly events: readonly Recorded[]
}

/**
 * Batches of different lanes as one segment, so that what a bus brings lane by lane is written in
 * one transaction. Events keep their order within each lane, which is all that counts.
 */
export const segmentOf = (batches: readonly LaneBatch[]): Segment => ({
  spans: new Map(
    batches.flatMap(({ lanes, after, position }) =>
      lanes.map((lane) => [lane, { after, position }] as const),
    ),
  ),
  events: batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((b) => b.events),
})
