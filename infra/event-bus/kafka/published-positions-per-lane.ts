import type { Message } from 'kafkajs'
import type { Recorded } from '#domain/shared/event.ts'
import { ALL_LANES, laneOf } from '../lane-of-stream.ts'
import { encodeMessage } from './lane-message.ts'

/**
 * The maximum bytes per partition in a request. Kafka limits requests to `max.message.bytes` (1
 * MiB), and kafkajs does not split larger requests.
 */
const LANE_BYTES_MAX = 700_000
const MESSAGE_OVERHEAD_BYTES = 200
/** The maximum bytes of an event in a message. Larger events are read from the event store. */
const EVENT_BYTES_MAX = 500_000

export type MessageBatch = readonly Message[]

export type PublishedLanes = {
  readonly lowest: () => number
  /** Encodes events in batches that are small enough to send. A lane's events keep their order. */
  readonly batchesOf: (events: readonly Recorded[]) => MessageBatch[]
  /**
   * Records that all events up to `position` were passed to `batchesOf`, so that `watermarks` can
   * announce this position.
   */
  readonly reach: (position: number) => void
  /**
   * Returns a watermark (empty message) for every lane whose last message is before the position
   * that `reach` received.
   */
  readonly watermarks: () => MessageBatch
}

/** Tracks for each lane the position up to which its events are in the topic. */
export function createPublishedLanes(
  start: ReadonlyMap<number, number>,
  history: string,
): PublishedLanes {
  const positions = new Map(start)
  let reached = Math.min(...start.values())
  const positionOf = (lane: number): number => positions.get(lane) ?? 0
  /** The lanes whose start position has not been sent yet. */
  const unannounced = new Set(ALL_LANES)

  const messageOf = (event: Recorded): { lane: number; message: Message; bytes: number } | null => {
    const lane = laneOf(event.stream)
    const after = positionOf(lane)
    if (event.position <= after) return null
    positions.set(lane, event.position)
    const message = encodeMessage({ after, position: event.position, event }, history)
    const bytes = (message.value?.length ?? 0) + MESSAGE_OVERHEAD_BYTES
    if (bytes <= EVENT_BYTES_MAX) return { lane, message: { ...message, partition: lane }, bytes }
    const place = { after: event.position, position: event.position, event: null }
    const pointer = { ...encodeMessage(place, history), partition: lane }
    return { lane, message: pointer, bytes: MESSAGE_OVERHEAD_BYTES }
  }
  return {
    lowest: () => Math.min(...positions.values()),
    reach: (position) => {
      reached = Math.max(reached, position)
    },
    batchesOf: (events) => {
      const batches: Message[][] = [[]]
      let bytesByLane = new Map<number, number>()
      for (const event of events) {
        const encoded = messageOf(event)
        if (encoded === null) continue
        const { lane, message, bytes } = encoded
        if ((bytesByLane.get(lane) ?? 0) + bytes > LANE_BYTES_MAX) {
          batches.push([])
          bytesByLane = new Map()
        }
        bytesByLane.set(lane, (bytesByLane.get(lane) ?? 0) + bytes)
        batches.at(-1)?.push(message)
        unannounced.delete(lane)
      }
      return batches.filter((batch) => batch.length > 0)
    },
    watermarks: () =>
      ALL_LANES.filter((lane) => positionOf(lane) < reached || unannounced.has(lane)).map(
        (lane) => {
          const after = positionOf(lane)
          const position = Math.max(after, reached)
          unannounced.delete(lane)
          positions.set(lane, position)
          return { ...encodeMessage({ after, position, event: null }, history), partition: lane }
        },
      ),
  }
}
