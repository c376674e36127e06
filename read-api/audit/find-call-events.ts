import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { firstRevision, firstRevisionBefore } from '#infra/event-store/binary-search-events.ts'
import type { EventStore } from '#infra/event-store/port.ts'

type Event = Recorded<AccountEvent>
type Store = Pick<EventStore, 'readStream' | 'readAll'>
type OfType<T extends AccountEvent['type']> = Recorded<Extract<AccountEvent, { type: T }>>

export type CallEnding = OfType<'CallSettled' | 'CallReleased' | 'CallInterrupted'>

/** The events of one call in the stream of an account. */
export type CallEvents = {
  readonly admission: OfType<'CallAdmitted'> | null
  readonly raises: readonly OfType<'HoldRaised'>[]
  /** The event that ended the call, or null while the call is open. */
  readonly end: CallEnding | null
}

/**
 * The maximum number of events that each of the two searches for the admission reads. The same
 * maximum applies when the events after the admission are read.
 */
const SEARCHED_MAX = 4_000
const PAGE = 500
/**
 * The maximum difference between the clocks of two processes that write to one account, in
 * milliseconds.
 */
const CLOCKS_MS = 2_000
/**
 * Finds the events of a call by its id. The id is a UUID v7, which contains the time of the
 * request. `endedAt` is the position of the event that ended the call, or null if the call is open.
 * `isDense` is true if every position has an event. In this case, an event can be read by its
 * position. Returns null if no event of the call is found, or if the event at `endedAt` did not end
 * this call.
 */
export async function findCallEvents(
  store: Store,
  userId: number,
  call: string,
  endedAt: number | null,
  isDense: boolean,
): Promise<CallEvents | null> {
  const stream = accountStream(userId)
  const end = endedAt === null ? null : await endingAt(store, stream, endedAt, isDense)
  if (endedAt !== null && (end === null || !isOf(end, call))) return null
  const admission = await findAdmission(store, stream, call, end?.revision ?? null)
  if (admission === null && end === null) return null
  const from = (admission ?? end)?.revision ?? 0
  const between = await readBetween(store, stream, from, end?.revision ?? from + SEARCHED_MAX)
  const raises = between.filter(
    (event): event is OfType<'HoldRaised'> => event.type === 'HoldRaised' && isOf(event, call),
  )
  return { admission, raises, end }
}

const isOf = ({ data }: Event, call: string): boolean => 'call' in data && data.call === call

async function endingAt(
  store: Store,
  stream: string,
  position: number,
  isDense: boolean,
): Promise<CallEnding | null> {
  const isReached = (event: Recorded) => event.position >= position
  const [event] = isDense
    ? await store.readAll(position - 1, 1)
    : await store.readStream(stream, await firstRevision(store, stream, isReached), 1)
  if (event?.stream !== stream || event.position !== position) return null
  const { type } = event
  const isEnd = type === 'CallSettled' || type === 'CallReleased' || type === 'CallInterrupted'
  return isEnd ? (event as CallEnding) : null
}

/**
 * Finds the event that admitted the call. Searches forwards from the time of the request first, and
 * then backwards from the end of the call.
 */
async function findAdmission(
  store: Store,
  stream: string,
  call: string,
  endRevision: number | null,
): Promise<OfType<'CallAdmitted'> | null> {
  const isAdmission = (event: Event): event is OfType<'CallAdmitted'> =>
    event.type === 'CallAdmitted' && event.data.call === call
  const requestedAt = timeOf(call) - CLOCKS_MS
  const isReached = ({ meta }: Recorded) => meta.at >= requestedAt
  const start =
    endRevision === null
      ? await firstRevision(store, stream, isReached)
      : await firstRevisionBefore(store, stream, isReached, endRevision)
  const end = endRevision ?? start + SEARCHED_MAX
  for (let at = start; at < Math.min(end, start + SEARCHED_MAX); at += PAGE) {
    const events = (await store.readStream(stream, at, PAGE)) as Event[]
    const found = events.find(isAdmission)
    if (found !== undefined) return found
    if (events.length < PAGE) break
  }
  for (let at = end; at > Math.max(0, end - SEARCHED_MAX); at -= PAGE) {
    const events = (await store.readStream(stream, Math.max(0, at - PAGE), PAGE)) as Event[]
    const found = events.find(isAdmission)
    if (found !== undefined) return found
  }
  return null
}

async function readBetween(
  store: Store,
  stream: string,
  from: number,
  to: number,
): Promise<readonly Event[]> {
  const events: Event[] = []
  for (let at = from + 1; at < Math.min(to, from + SEARCHED_MAX); at += PAGE) {
    const page = (await store.readStream(stream, at, Math.min(PAGE, to - at))) as Event[]
    events.push(...page)
    if (page.length < PAGE) break
  }
  return events
}

/** Returns the time that a UUID v7 contains, in Unix milliseconds. */
const timeOf = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)
