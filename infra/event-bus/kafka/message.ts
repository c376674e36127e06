import type { KafkaMessage, Message } from 'kafkajs'
import type { Recorded } from '#domain/shared/event.ts'
import { laneKeyOf } from '../lanes.ts'

/**
 * A message of a lane states: after the position `after`, the lane has no event up to `position`
 * except `event`, which is at `position`. Without an event the message is a watermark. The
 * statement stays true for ever, regardless of its sender and of repetition, so repeated and late
 * messages do no harm.
 */
export type LaneMessage = {
  readonly after: number
  readonly position: number
  readonly event: Recorded | null
}

/** The key is the account's id; the value is the event as JSON, and empty for a watermark. */
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

/** Returns null for messages in another format. */
export function headOf({ headers }: Pick<KafkaMessage, 'headers'>): MessageHead | null {
  const [after, position] = [Number(headers?.after ?? Number.NaN), Number(headers?.position)]
  if (!Number.isSafeInteger(after) || !Number.isSafeInteger(position)) return null
  return { after, position, history: String(headers?.history) }
}

/**
 * Returns null for messages in another format or of another history of events. `unreadable` is a
 * message with our headers and invalid content; the events it may have carried are a gap.
 */
export function decodeMessage(
  message: KafkaMessage,
  history: string,
): LaneMessage | 'unreadable' | null {
  const head = headOf(message)
  if (head === null || head.history !== history) return null
  const { after, position } = head
  const { key, value } = message
  // NOTE: a key without a value would pass for a watermark and hide the event it is about.
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
 * Groups the new information after `delivered` in messages of one lane into batches without inner
 * gaps. A batch whose `after` is beyond the end of the previous one follows a gap. The last batch,
 * up to `gapUpTo`, does too, where messages may have been missed.
 */
export function gaplessBatches(
  delivered: number,
  messages: readonly LaneMessage[],
  gapUpTo = 0,
): GaplessBatch[] {
  const batches: { events: Recorded[]; after: number; position: number }[] = []
  let reached = delivered
  for (const { after, position, event } of messages) {
    // NOTE: `after === position` announces an event that is too big for a message; it is read from
    // the store.
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
