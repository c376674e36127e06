import type { Recorded } from '#domain/shared/event.ts'
import { firstRevision, positionOfTime } from '#infra/event-store/binary-search-events.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { EventPage, RawEvent } from '../contract/time-travel.ts'
import { isAfter, type Moment } from './parse-moment.ts'

/**
 * The maximum number of events that one request reads. The response has a cursor to continue with.
 */
const SCANNED_MAX = 10_000
const PAGE = 500

export type EventQuery = {
  readonly stream: string
  readonly type: string
  readonly actor: string
  readonly userId: number | null
  readonly from: Moment | null
  readonly to: Moment | null
  /**
   * The position of the last event before the page. The page starts with the next matching event.
   */
  readonly after: number
  readonly limit: number
}

/**
 * Reads the events after a position, in order. A result with fewer events than a full page is the
 * last one.
 */
type Source = (after: number) => Promise<readonly Recorded[]>

/**
 * Lists events in the order of their positions. Indexes exist only for positions and for the
 * revisions of a stream. With any other filter, events are read and compared until the page is full
 * or `SCANNED_MAX` events were read.
 */
export async function listRawEvents(
  store: EventStore,
  query: EventQuery,
  isDense: boolean,
): Promise<EventPage> {
  const { from, to, type, actor, limit } = query
  const streams = streamsOf(query)
  const source = streams === null ? allEvents(store) : mergedStreams(store, streams)
  const start = await startOf(store, from, isDense)
  let position = Math.max(query.after, start)
  const items: RawEvent[] = []
  for (let scanned = 0; scanned < SCANNED_MAX; ) {
    const events = await source(position)
    for (const event of events) {
      if (isAfter(event, to)) return { items, next_cursor: null }
      scanned += 1
      position = event.position
      const isEarly = from !== null && 'time' in from && event.meta.at < from.time
      const isMatch =
        (type === '' || event.type === type) && (actor === '' || event.meta.actor === actor)
      if (isMatch && !isEarly) items.push(rawEvent(event))
      if (items.length === limit) return { items, next_cursor: String(position) }
    }
    if (events.length < PAGE) return { items, next_cursor: null }
  }
  return { items, next_cursor: String(position) }
}

const rawEvent = ({ meta, data, ...event }: Recorded): RawEvent => ({
  ...{ position: event.position, stream: event.stream, revision: event.revision, id: event.id },
  ...{ type: event.type, v: event.v, at: meta.at, actor: meta.actor, cause: meta.cause },
  data: data as Record<string, unknown>,
})

async function startOf(store: EventStore, from: Moment | null, isDense: boolean): Promise<number> {
  if (from === null) return 0
  if ('position' in from) return isDense ? Math.max(0, from.position - 1) : from.position
  return (await positionOfTime(store, from.time - 1, isDense)) ?? 0
}

/**
 * Returns the names of the streams to which the filters restrict the list, or null for all streams.
 */
function streamsOf({ stream, userId }: EventQuery): readonly string[] | null {
  if (stream !== '') return [stream]
  if (userId === null) return null
  const kinds = ['account', 'user', 'tokens', 'credentials', 'notifications', 'inbox']
  return kinds.map((kind) => `${kind}-${userId}`)
}

const allEvents =
  (store: EventStore): Source =>
  (after) =>
    store.readAll(after, PAGE)

/** Merges the events of several streams into the order of their positions. */
function mergedStreams(store: EventStore, streams: readonly string[]): Source {
  const next = new Map<string, number>()
  return async (after) => {
    const pages = await Promise.all(
      streams.map(async (stream) => {
        const isNew = (event: Recorded) => event.position > after
        const from = next.get(stream) ?? (await firstRevision(store, stream, isNew))
        return await store.readStream(stream, from, PAGE)
      }),
    )
    // A stream with a full page may have further events. Events behind the end of that page wait,
    // because those further events may come before them.
    const full = pages.filter(({ length }) => length === PAGE)
    const end = Math.min(...full.map((page) => page.at(-1)?.position ?? 0))
    const merged = pages
      .flat()
      .filter(({ position }) => position <= end)
      .toSorted((a, b) => a.position - b.position)
      .slice(0, PAGE)
    for (const event of merged) next.set(event.stream, event.revision + 1)
    return merged
  }
}
