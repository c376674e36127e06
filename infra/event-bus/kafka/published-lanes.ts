import type { Message } from 'kafkajs'
import type { Recorded } from '#domain/shared/event.ts'
import { ALL_LANES, laneOf } from '../lanes.ts'
import { encodeMessage } from './message.ts'

/**
 * Kafka counts the bytes of all messages that a request brings to one partition against
 * `max.message.bytes` (1 MiB), and kafkajs does not divide them.
 */
const LANE_BYTES_MAX = 700_000
const MESSAGE_OVERHEAD_BYTES = 200
/** What is bigger is told of without its content, and read from the event store. */
const EVENT_BYTES_MAX = 500_000

export type Shipment = readonly Message[]

export type PublishedLanes = {
  /** The lowest position that all lanes have been brought to. */
  readonly lowest: () => number
  /** Messages of the events, in order per lane, parted so that each part can be sent. */
  readonly ship: (events: readonly Recorded[]) => Shipment[]
  /** There is nothing more to come up to `position`. */
  readonly reach: (position: number) => void
  /** A message to every lane that does not say yet what has been reached. */
  readonly watermarks: () => Shipment
}

/** Up to which position each lane of the topic is complete. */
export function createPublishedLanes(
  start: ReadonlyMap<number, number>,
  history: string,
): PublishedLanes {
  const positions = new Map(start)
  let reached = Math.min(...start.values())
  const positionOf = (lane: number): number => positions.get(lane) ?? 0
  /** Lanes that nobody has told yet where they begin. */
  const untold = new Set(ALL_LANES)

  const messageOf = (event: Recorded): { lane: number; message: Message; bytes: number } | null => {
    const lane = laneOf(event.stream)
    const after = positionOf(lane)
    // Sent before this publisher began.
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
    ship: (events) => {
      const shipments: Message[][] = [[]]
      let bytesByLane = new Map<number, number>()
      for (const event of events) {
        const made = messageOf(event)
        if (made === null) continue
        const { lane, message, bytes } = made
        if ((bytesByLane.get(lane) ?? 0) + bytes > LANE_BYTES_MAX) {
          shipments.push([])
          bytesByLane = new Map()
        }
        bytesByLane.set(lane, (bytesByLane.get(lane) ?? 0) + bytes)
        shipments.at(-1)?.push(message)
        untold.delete(lane)
      }
      return shipments.filter((shipment) => shipment.length > 0)
    },
    watermarks: () =>
      ALL_LANES.filter((lane) => positionOf(lane) < reached || untold.has(lane)).map((lane) => {
        const after = positionOf(lane)
        const position = Math.max(after, reached)
        untold.delete(lane)
        positions.set(lane, position)
        return { ...encodeMessage({ after, position, event: null }, history), partition: lane }
      }),
  }
}
