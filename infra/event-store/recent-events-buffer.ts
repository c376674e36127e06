import type { Recorded } from '#domain/shared/event.ts'
import type { ExactStreamAppend } from './append-connection.ts'
import { decodeEvent, type EncodedEvent } from './encoded-append.ts'
import type { Page, PageRequest, StreamFilter } from './subscription.ts'

type Recent = {
  readonly event: EncodedEvent
  readonly stream: string
  readonly revision: number
  decoded: Recorded | null
}

const EVENTS_MAX = 4_096
const CHARACTERS_MAX = 8_388_608

export type RecentEvents = {
  /** Adds events that this process has committed. Their positions directly follow `before`. */
  readonly add: (before: number, parts: readonly ExactStreamAppend[]) => void
  /** Returns the events after `request.after`, or null if the buffer lacks some of them. */
  readonly read: (request: PageRequest) => Page | null
  /**
   * Keeps the events that `isWanted` selects in memory until the returned function is called. Null
   * selects all events.
   */
  readonly keep: (isWanted: StreamFilter | null) => () => void
}

/**
 * Keeps the latest events that this process wrote in memory, so that its readers need no query.
 * Each event is decoded only once, from the stored text. If another process writes in between, the
 * buffer starts again with the next event.
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
    for (const recent of dropped) characters -= recent?.event.data.length ?? 0
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
          kept.push(isWanted ? { event, stream, revision, decoded: null } : null)
          if (isWanted) characters += event.data.length
        }
      }
      shrink()
    },
    read: ({ after, limit, isWanted }) => {
      const start = after + 1 - first
      if (start < 0 || start >= kept.length) return null
      const events: Recorded[] = []
      let index = start
      for (; index < kept.length && events.length < limit; index += 1) {
        const recent = kept[index]
        if (!recent || (isWanted !== null && !isWanted(recent.stream))) continue
        const { event, stream, revision } = recent
        recent.decoded ??= decodeEvent(event, { stream, revision, position: first + index })
        events.push(recent.decoded)
      }
      return { events, position: first + index - 1 }
    },
  }
}
