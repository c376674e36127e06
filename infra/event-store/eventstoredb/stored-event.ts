import { type AllStreamResolvedEvent, jsonEvent, type ResolvedEvent } from '@eventstore/db-client'
import type { FactMeta, Recorded } from '#domain/shared/event.ts'
import type { ExactPart } from '../append-connection.ts'
import type { EncodedEvent } from '../encoded-append.ts'

export type StoredEvent = {
  readonly recorded: Recorded
  /** The parts for the other streams, if the event decides a joint append (to several streams). */
  readonly others: readonly ExactPart[]
}

/** A part of a joint append in the metadata of the deciding event. Its data is JSON. */
type StoredPart = {
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

type Metadata = FactMeta & { readonly v: number; readonly others?: readonly StoredPart[] }

/** Returns true for an event of the server itself, which every reader skips. */
export const isSystem = (event: { streamId: string; type: string }): boolean =>
  event.streamId.startsWith('$') || event.type.startsWith('$')

/**
 * Converts events to the form that the client appends. NOTE: the client stores `JSON.stringify` of
 * the parsed data, which reproduces the original bytes of numbers, property order and escapes.
 */
export function proposedEvents(events: readonly EncodedEvent[], others: readonly ExactPart[] = []) {
  return events.map(({ id, type, v, data, meta }, index) => {
    const isLast = index === events.length - 1
    const own = { v, actor: meta.actor, cause: meta.cause, at: meta.at }
    const metadata = isLast && others.length > 0 ? { ...own, others: others.map(storedPart) } : own
    return jsonEvent({ id, type, data: JSON.parse(data), metadata })
  })
}

const storedPart = ({ stream, expected, events, mustBeNew }: ExactPart): StoredPart => ({
  stream,
  expected,
  events: events.map((event) => ({ ...event, data: JSON.parse(event.data) })),
  ...(mustBeNew === true ? { mustBeNew } : {}),
})

const exactPart = ({ stream, expected, events, mustBeNew }: StoredPart): ExactPart => ({
  stream,
  expected,
  events: events.map((event) => ({ ...event, data: JSON.stringify(event.data) })),
  ...(mustBeNew === true ? { mustBeNew } : {}),
})

export type Resolved = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event' | 'commitPosition'>

/** Returns null for an event of the server. Throws for an event that is not of this product. */
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
