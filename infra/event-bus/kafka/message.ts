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

/** null: not one of ours, or of another history of events. Throws on a value that is no JSON. */
export function decodeMessage(message: KafkaMessage, history: string): LaneMessage | null {
  const head = headOf(message)
  if (head === null || head.history !== history) return null
  const text = message.value?.toString() ?? ''
  return {
    after: head.after,
    position: head.position,
    event: text === '' ? null : (JSON.parse(text) as Recorded),
  }
}

export type Portion = {
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

/**
 * What is new behind `handed` in messages of one lane, in portions without a gap inside. A portion
 * whose `after` is beyond the end of the one before has a gap in front of it.
 */
export function portionsOf(handed: number, messages: readonly LaneMessage[]): Portion[] {
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
  return portions
}
