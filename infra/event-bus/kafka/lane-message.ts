import type { KafkaMessage, Message } from 'kafkajs'
import type { Recorded } from '#domain/shared/event.ts'
import { laneKeyOf } from '../lane-of-stream.ts'

/**
 * States that `event` is the only event of the lane after position `after` and up to `position`. A
 * message without an event is a watermark: the lane has no event in this range. Repeated and late
 * messages do no harm.
 */
export type LaneMessage = {
  readonly after: number
  readonly position: number
  readonly event: Recorded | null
}

/**
 * Encodes a message. The message's key is the id at the end of the stream's name. A watermark has
 * neither key nor value.
 */
export function encodeMessage(
  { after, position, event }: LaneMessage,
  history: string,
): Message & { readonly value: Buffer | null } {
  return {
    key: event === null ? null : laneKeyOf(event.stream),
    value: event === null ? null : Buffer.from(JSON.stringify(event)),
    headers: { after: String(after), position: String(position), history },
  }
}

export type MessageHead = {
  readonly after: number
  readonly position: number
  readonly history: string
}

/**
 * Returns the positions and the history id in the headers of a message, or null if the message has
 * another format.
 */
export function headOf({ headers }: Pick<KafkaMessage, 'headers'>): MessageHead | null {
  const [after, position] = [Number(headers?.after ?? Number.NaN), Number(headers?.position)]
  if (!Number.isSafeInteger(after) || !Number.isSafeInteger(position)) return null
  return { after, position, history: String(headers?.history) }
}

/**
 * Decodes a message. Returns null if the message has another format or belongs to another event
 * history. Returns `unreadable` for a message of this product with invalid content.
 */
export function decodeMessage(
  message: KafkaMessage,
  history: string,
): LaneMessage | 'unreadable' | null {
  const head = headOf(message)
  if (head === null || head.history !== history) return null
  const { after, position } = head
  const { key, value } = message
  // NOTE: a keyed message with a null value is invalid. If this message counted as a watermark, it
  // would hide an event.
  if (value === null && key === null) return { after, position, event: null }
  const event = value === null ? null : eventOf(value)
  return event?.position === position ? { after, position, event } : 'unreadable'
}

function eventOf(value: Buffer): Recorded | null {
  try {
    const parsed: unknown = JSON.parse(value.toString())
    return isRecorded(parsed) ? parsed : null
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isRecorded = (value: unknown): value is Recorded =>
  isObject(value) &&
  [value.id, value.type, value.stream].every((each) => typeof each === 'string') &&
  [value.v, value.revision, value.position].every(Number.isSafeInteger) &&
  isObject(value.data) &&
  isObject(value.meta)

export type GaplessBatch = {
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

/**
 * Groups the messages of a lane into batches without gaps, and skips messages up to `delivered`. If
 * the messages end before `gapUpTo`, an empty batch at this position is added. This batch makes the
 * worker read the missing events from the store.
 */
export function gaplessBatches(
  delivered: number,
  messages: readonly LaneMessage[],
  gapUpTo = 0,
): GaplessBatch[] {
  const batches: { events: Recorded[]; after: number; position: number }[] = []
  let reached = delivered
  for (const { after, position, event } of messages) {
    // A message up to `reached` is a repetition. NOTE: a message with `after === position` replaces
    // an event that is too large for a message.
    if (position <= reached) continue
    let last = batches.at(-1)
    if (last === undefined || after > reached) {
      last = { events: [], after: Math.max(after, reached), position: reached }
      batches.push(last)
    }
    if (event !== null) last.events.push(event)
    last.position = position
    reached = position
  }
  if (gapUpTo > reached) batches.push({ events: [], after: gapUpTo, position: gapUpTo })
  return batches
}
