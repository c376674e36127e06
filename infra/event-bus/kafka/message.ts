import type { KafkaMessage, Message } from 'kafkajs'
import type { Recorded } from '#domain/shared/event.ts'
import { laneKeyOf } from '../lanes.ts'

/**
 * One message of a lane says: after the position `after` there is nothing in this lane up to
 * `position` but `event`, which is at `position`. Without an event it is a watermark. It is true
 * for ever, whoever sent it and however often, so that repeated and late messages do no harm.
 */
export type LaneMessage = {
  readonly after: number
  readonly position: number
  readonly event: Recorded | null
}

/** Key: the account's id. Value: the event as JSON, empty for a watermark. */
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

/** null: not one of ours. */
export function headOf({ headers }: Pick<KafkaMessage, 'headers'>): MessageHead | null {
  const [after, position] = [Number(headers?.after ?? Number.NaN), Number(headers?.position)]
  if (!Number.isSafeInteger(after) || !Number.isSafeInteger(position)) return null
  return { after, position, history: String(headers?.history) }
}

/**
 * null: not one of ours, or of another history of events. `unreadable`: it says that it is ours,
 * and is not what we send. What it may have told is then a gap.
 */
export function decodeMessage(
  message: KafkaMessage,
  history: string,
): LaneMessage | 'unreadable' | null {
  const head = headOf(message)
  if (head === null || head.history !== history) return null
  const { after, position } = head
  const { key, value } = message
  // NOTE: a key without a value would pass for a watermark, and hide the event it is about.
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

export type Portion = {
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

/**
 * What is new behind `handed` in messages of one lane, in portions without a gap inside. A portion
 * whose `after` is beyond the end of the one before has a gap in front of it. So has the last one,
 * up to `gapUpTo`, where something may have been missed.
 */
export function portionsOf(
  handed: number,
  messages: readonly LaneMessage[],
  gapUpTo = 0,
): Portion[] {
  const portions: { events: Recorded[]; after: number; position: number }[] = []
  let reached = handed
  for (const { after, position, event } of messages) {
    // NOTE: `after === position` is how an event too big for a message is told of: read the store.
    if (position <= reached) continue
    let last = portions.at(-1)
    if (last === undefined || after > reached) {
      last = { events: [], after: Math.max(after, reached), position: reached }
      portions.push(last)
    }
    if (event !== null) last.events.push(event)
    last.position = position
    reached = position
  }
  if (gapUpTo > reached) portions.push({ events: [], after: gapUpTo, position: gapUpTo })
  return portions
}
