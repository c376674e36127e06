import { OPTIONS_STREAM, type OptionsEvent } from '#domain/options/events.ts'
import { priceOf, readPriceList } from '#domain/pricing/price-list.ts'
import type { Recorded } from '#domain/shared/event.ts'
import {
  firstRevision,
  hasDensePositions,
  positionOfTime,
} from '#infra/event-store/binary-search-events.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type EventPage, type RawEvent, timeTravelQueries } from '../contract/time-travel.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import { isAfter, type Moment, parseMoment, parseMomentRange } from './parse-moment.ts'
import { listPricesInForce } from './prices-in-force.ts'
import { readUntil, stateAsOf } from './state-as-of.ts'

/**
 * `GET /api/audit/state/:kind/:id`: the state of a token, a channel, a user, the options or the
 * prices at a moment.
 */
export function getState(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/state/:kind/:id'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'tokens', 'audit-log'),
    handler: async ({ params, query }) => {
      const { kind, id } = params
      const state = await stateAsOf(deps.core, kind, id, parseMoment(query.at))
      if (state === null) throw auditError('ObjectUnknown')
      return success(state)
    },
  })
}

/**
 * `GET /api/audit/prices`: the price of a model for a group at a moment, and the price entries that
 * applied, with the users who set them.
 */
export function getPrices(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/prices'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'price-history', 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { model, group } = query
      const userGroup = query.user_group || group
      const values = new Map<string, string>()
      let last: Recorded | null = null as Recorded | null
      await readUntil(core.store, OPTIONS_STREAM, parseMoment(query.at), (event) => {
        const { type, data } = event as Recorded<OptionsEvent>
        if (type === 'OptionSet') values.set(data.key, data.value)
        last = event
      })
      const list = readPriceList(values, last?.revision ?? -1)
      const price = priceOf(list, model, group, { userGroup, acceptsUnpriced: false })
      const position = last?.position ?? 0
      const scope = { model, group, userGroup, tools: [], position }
      return success({
        ...{ position, at: Math.floor((last?.meta.at ?? 0) / 1_000), model, group },
        price: 'code' in price ? null : { ...price },
        in_force: await listPricesInForce(core, scope),
      })
    },
  })
}

const PAGE_SIZE = 50

/** `GET /api/audit/events`: the events as they are stored, in the order of their positions. */
export function listEvents(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/events'),
    onRequest: onlyAuditor,
    handler: async ({ query }) => {
      const { stream = '', type = '', actor = '' } = query
      const page = await listRawEvents(
        core.store,
        {
          ...{ stream, type, actor, userId: integerOf(query.user_id) ?? null },
          ...parseMomentRange(query),
          after: integerOf(query.after) ?? 0,
          limit: Number(query.limit ?? PAGE_SIZE),
        },
        hasDensePositions(core),
      )
      return success(page)
    },
  })
}

/**
 * The maximum number of events that one request reads. If a request reaches this number, the
 * response has a cursor with which the client can continue.
 */
const SCANNED_MAX = 10_000
const PAGE = 500

type EventQuery = {
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
 * Reads one page of the events after a position, in order. A page with fewer than `PAGE` events is
 * the last one.
 */
type Source = (after: number) => Promise<readonly Recorded[]>

/**
 * Lists events in the order of their positions. Indexes exist only for positions and for the
 * revisions of a stream. With any other filter, events are read and compared with the filter until
 * the page is full or `SCANNED_MAX` events were read.
 */
async function listRawEvents(
  store: EventStore,
  query: EventQuery,
  isDense: boolean,
): Promise<EventPage> {
  const { from, to, type, actor, limit } = query
  const streams = streamsOf(query)
  const first = from !== null && 'position' in from ? from.position : 0
  const start = await startOf(store, query, first, { isDense, isOfAllStreams: streams === null })
  const source = streams === null ? allEvents(store, start.first) : mergedStreams(store, streams)
  const past = Math.max(query.after, first - 1)
  let position = streams === null ? start.after : Math.max(start.after, past)
  const items: RawEvent[] = []
  for (let scanned = 0; scanned < SCANNED_MAX; ) {
    const events = await source(position)
    for (const event of events) {
      if (isAfter(event, to)) return { items, next_cursor: null }
      scanned += 1
      position = event.position
      const isTooSoon = from !== null && 'time' in from && event.meta.at < from.time
      const isEarly = isTooSoon || event.position <= past
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

/** The position after which reading begins, and an earlier event that is read by itself, or 0. */
type Start = { readonly after: number; readonly first: number }

/**
 * Returns where reading begins. `first` is the first position of the range, or 0. Where positions
 * have gaps, the store reads only from the position of an event. If no event has the position
 * `first` or `after`, reading begins at the other one or at the first event of all. If the range
 * begins after the last event, reading begins there. An `after` from which all streams can't be
 * read is refused, because a page that ends before it would have a cursor to earlier events.
 */
async function startOf(
  store: EventStore,
  { from, after }: EventQuery,
  first: number,
  { isDense, isOfAllStreams }: { readonly isDense: boolean; readonly isOfAllStreams: boolean },
): Promise<Start> {
  if (isDense) {
    const isTime = from !== null && 'time' in from
    const ofTime = isTime ? await positionOfTime(store, from.time - 1, isDense) : null
    return { after: Math.max(after, first - 1, ofTime ?? 0), first: 0 }
  }
  if (first > after && (await store.eventAt(first)) !== null) return { after, first }
  if (after > 0 && (await store.eventAt(after)) !== null) return { after, first: 0 }
  const head = await store.headPosition()
  if (Math.max(first, after) > head) return { after: head, first: 0 }
  if (after > 0 && after >= first && isOfAllStreams) {
    throw invalidField('after', { zh: '不是任何事件的位置', en: 'is not the position of an event' })
  }
  return { after: 0, first: 0 }
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

/**
 * Reads the events of all streams. The event at the position `first` is read by itself, because
 * positions can have gaps, and the store reads only after the position of an event. Without an
 * event there, `first` is 0.
 */
function allEvents(store: EventStore, first: number): Source {
  return async (after) => {
    const event = after < first ? await store.eventAt(first) : null
    if (event === null) return await store.readAll(after, PAGE)
    return [event, ...(await store.readAll(first, PAGE - 1))]
  }
}

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
    // A stream whose page is full may have more events. Events of other streams that are later than
    // this page are left for the next call, because the stream's next events may come before these
    // events.
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
