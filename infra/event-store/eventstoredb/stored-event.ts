import { type AllStreamResolvedEvent, jsonEvent, type ResolvedEvent } from '@eventstore/db-client'
import type { FactMeta, Recorded } from '#domain/shared/event.ts'
import type { ExactStreamAppend } from '../append-connection.ts'
import type { EncodedEvent } from '../encoded-append.ts'

export type StoredEvent = {
  readonly recorded: Recorded
  /**
   * The events for the other streams, if this event is the last one that a joint append (one append
   * to several streams) wrote to its first stream.
   */
  readonly others: readonly ExactStreamAppend[]
}

/**
 * The events of a joint append for one of the other streams, as the metadata of the last event for
 * the first stream stores them. `data` is JSON.
 */
type StoredStreamAppend = {
  readonly stream: string
  readonly expected: number
  readonly events: readonly {
    readonly id: string
    readonly type: string
    readonly v: number
    readonly data: object
    readonly meta: FactMeta
  }[]
  readonly mustBeNew?: boolean
}

type Metadata = FactMeta & { readonly v: number; readonly others?: readonly StoredStreamAppend[] }

/**
 * Reports whether the event is from the server itself or from a readiness probe. Every reader skips
 * such events.
 */
export const isSystem = (event: { streamId: string; type: string }): boolean =>
  event.streamId.startsWith('$') || event.type.startsWith('$')

/**
 * Converts events to the form that the client appends. NOTE: the client stores `JSON.stringify` of
 * the parsed data, which reproduces the original bytes of numbers, property order and escapes.
 */
export function proposedEvents(
  events: readonly EncodedEvent[],
  others: readonly ExactStreamAppend[] = [],
) {
  return events.map(({ id, type, v, data, meta }, index) => {
    const isLast = index === events.length - 1
    const own = { v, actor: meta.actor, cause: meta.cause, at: meta.at }
    const metadata = isLast && others.length > 0 ? { ...own, others: others.map(storedPart) } : own
    return jsonEvent({ id, type, data: JSON.parse(data), metadata })
  })
}

const storedPart = ({
  stream,
  expected,
  events,
  mustBeNew,
}: ExactStreamAppend): StoredStreamAppend => ({
  stream,
  expected,
  events: events.map((event) => ({ ...event, data: JSON.parse(event.data) })),
  ...(mustBeNew === true ? { mustBeNew } : {}),
})

const exactPart = ({
  stream,
  expected,
  events,
  mustBeNew,
}: StoredStreamAppend): ExactStreamAppend => ({
  stream,
  expected,
  events: events.map((event) => ({ ...event, data: JSON.stringify(event.data) })),
  ...(mustBeNew === true ? { mustBeNew } : {}),
})

export type Resolved = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event' | 'commitPosition'>

/**
 * Converts an event from the client's form. Returns null for an event of the server itself. Throws
 * for an event that this product has not written.
 */
export function storedEvent({ event, commitPosition }: Resolved): StoredEvent | null {
  if (event === undefined || isSystem(event)) return null
  const { streamId: stream, id, type } = event
  const metadata = event.metadata as Metadata | undefined
  if (!event.isJson || typeof metadata?.v !== 'number') {
    throw new Error(`event ${id} of stream ${stream} was not written by this product`)
  }
  const { v, actor, cause, at, others = [] } = metadata
  const recorded: Recorded = {
    type,
    v,
    data: event.data as object,
    id,
    meta: { actor, cause, at },
    stream,
    revision: Number(event.revision),
    position: safePosition(event.position?.commit ?? commitPosition),
  }
  return { recorded, others: others.map(exactPart) }
}

/**
 * Converts a position (a byte offset in the server's log) to a number. Throws for a missing
 * position, and for a position of 2^53 bytes (8 PiB) or more, which a number can't represent
 * exactly.
 */
export function safePosition(position: bigint | undefined): number {
  const number = Number(position ?? -1n)
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`position ${position}`)
  return number
}
