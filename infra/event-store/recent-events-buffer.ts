import type { Recorded } from '#domain/shared/event.ts'
import type { ExactStreamAppend } from './append-connection.ts'
import { decodeEvent, type EncodedEvent } from './encoded-append.ts'
import type { Page, PageRequest, StreamFilter } from './subscription.ts'

type Recent = Written | ReadFromStore

type Written = {
  readonly event: EncodedEvent
  readonly stream: string
  readonly revision: number
  readonly characters: number
  decoded: Recorded | null
}

type ReadFromStore = {
  readonly stream: string
  readonly characters: number
  readonly decoded: Recorded
}

/** All events after `after` and up to `position`, as one reader read them from the store. */
export type StoredPage = Page & {
  /** The length of each event's data in characters. */
  readonly lengths: readonly number[]
}

const EVENTS_MAX = 4_096
const CHARACTERS_MAX = 8_388_608

export type RecentEvents = {
  /** Adds events that this process has committed, whose positions directly follow `before`. */
  readonly add: (before: number, parts: readonly ExactStreamAppend[]) => void
  /**
   * Adds events that other processes have committed, so that only one reader of this process has to
   * query these events. Does nothing if fewer than two readers use the buffer, if the events
   * overlap the kept ones, or if an event of the page is missing.
   */
  readonly addRead: (after: number, page: StoredPage) => void
  /**
   * Returns the next events after `request.after`, or null if the buffer does not contain the
   * position after it.
   */
  readonly read: (request: PageRequest) => Page | null
  /**
   * Keeps the events that `isWanted` selects in memory until the returned function is called. Null
   * selects all events.
   */
  readonly keep: (isWanted: StreamFilter | null) => () => void
}

/**
 * Keeps the latest events in memory, so that readers need no query for events that this process
 * wrote. For events of other processes, only one of the readers needs a query. Each event is
 * decoded only once, from the stored text. If events are missing between the kept events and an
 * added event, the buffer starts again with the added one.
 *
 * Events that no reader selects are replaced by null, because many objects that live for seconds
 * would make garbage collection slow.
 */
export function createRecentEvents(): RecentEvents {
  let first = 1
  let kept: (Recent | null)[] = []
  let characters = 0
  const filters = new Set<{ readonly isWanted: StreamFilter | null }>()

  const startAt = (position: number): void => {
    kept = []
    characters = 0
    first = position
  }
  const isSelected = (stream: string): boolean => {
    for (const { isWanted } of filters) if (isWanted === null || isWanted(stream)) return true
    return false
  }
  const shrink = (): void => {
    if (kept.length <= EVENTS_MAX && characters <= CHARACTERS_MAX) return
    const dropped = kept.splice(0, Math.ceil(kept.length / 2))
    first += dropped.length
    for (const recent of dropped) characters -= recent?.characters ?? 0
  }
  return {
    keep: (isWanted) => {
      const filter = { isWanted }
      filters.add(filter)
      // The buffer restarts, because it lacks earlier events that only this new reader selects.
      startAt(first + kept.length)
      return () => filters.delete(filter)
    },
    add: (before, parts) => {
      if (before + 1 !== first + kept.length) startAt(before + 1)
      for (const { stream, expected, events } of parts) {
        const isWanted = isSelected(stream)
        for (const [index, event] of events.entries()) {
          const revision = expected + 1 + index
          const length = event.data.length
          kept.push(
            isWanted ? { event, stream, revision, characters: length, decoded: null } : null,
          )
          if (isWanted) characters += length
        }
      }
      shrink()
    },
    addRead: (after, { events, lengths, position }) => {
      // A single reader reads each event only once, so it does not need the buffer.
      if (filters.size < 2 || after + 1 < first + kept.length) return
      // If an event is missing in the store, later events would get wrong positions in the buffer.
      if (position !== after + events.length) return
      if (after + 1 > first + kept.length) startAt(after + 1)
      for (const [index, decoded] of events.entries()) {
        const recent = { stream: decoded.stream, characters: lengths[index] ?? 0, decoded }
        kept.push(recent)
        characters += recent.characters
      }
      shrink()
    },
    read: (request) => readKept(kept, first, request),
  }
}

/** Reads a page of the kept events. The first kept event has the position `first`. */
function readKept(
  kept: readonly (Recent | null)[],
  first: number,
  { after, limit, isWanted }: PageRequest,
): Page | null {
  const start = after + 1 - first
  if (start < 0 || start >= kept.length) return null
  const events: Recorded[] = []
  let index = start
  for (; index < kept.length && events.length < limit; index += 1) {
    const recent = kept[index]
    if (!recent || (isWanted !== null && !isWanted(recent.stream))) continue
    events.push(decodedOnce(recent, first + index))
  }
  return { events, position: first + index - 1 }
}

function decodedOnce(recent: Recent, position: number): Recorded {
  if (!('event' in recent)) return recent.decoded
  if (recent.decoded !== null) return recent.decoded
  const { event, stream, revision } = recent
  recent.decoded = decodeEvent(event, { stream, revision, position })
  return recent.decoded
}
