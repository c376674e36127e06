import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import type { Logger } from 'pino'
import { surviveLostConnections, withDurableCommits } from '../postgres/pools.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import { createAppendConnection } from './append-connection.ts'
import { createAppendQueue } from './append-queue.ts'
import { encodeAppend, eventCount } from './encoded-append.ts'
import type { CommitWatch, EventStore, Subscription } from './port.ts'
import { createEventReader, type EventReader } from './postgres-event-reader.ts'
import { ensureEventSchema, ensurePartitions } from './postgres-schema.ts'
import {
  createReaderNotification,
  keepListening,
  type ReaderNotification,
} from './reader-notification.ts'
import { createRecentEvents, type RecentEvents } from './recent-events-buffer.ts'
import {
  type Page,
  type PagedSubscription,
  type PageRequest,
  streamFilter,
  subscribe,
} from './subscription.ts'

type Options = {
  readonly connectionString: string
  readonly log: Logger
  readonly partitionSize?: number
  readonly deadlineMs?: number
}

const PARTITION_SIZE = 10_000_000
/**
 * The minimum time in milliseconds between two queries for events of other processes, which may
 * commit hundreds of times a second. This pause limits the load on Postgres.
 */
const FOREIGN_COMMIT_MS = 25
/**
 * The time in milliseconds for which a poll of one subscription also serves the other
 * subscriptions.
 */
const SHARED_POLL_MS = 2_500

/** Creates the event store in the Postgres schema `event_store`. */
export async function createPostgresEventStore(options: Options): Promise<EventStore> {
  const { connectionString, log, partitionSize = PARTITION_SIZE, deadlineMs } = options
  const pg = createReadPool(connectionString)
  await ensureEventSchema(pg)
  const reader = createEventReader(pg)
  const partitions = partitionKeeper(pg, partitionSize, log)
  const notification = createReaderNotification()
  const recent = createRecentEvents()
  let head = await reader.headPosition()
  await partitions.ensure(head)
  const onCommitted = (position: number): void => {
    if (position <= head) return
    head = position
    notification.wake()
  }
  const warn = failureLog(log)
  const onForeignCommit = atIntervals(FOREIGN_COMMIT_MS, onCommitted)
  const connection = createAppendConnection(connectionString, onForeignCommit)
  const queue = createAppendQueue({
    connection,
    onFound: onCommitted,
    findWritten: reader.findWritten,
    revisionsOf: reader.revisionsOf,
    onCommitted: (before, parts) => {
      const position = before + eventCount(parts)
      recent.add(before, parts)
      onCommitted(position)
      partitions.keepAhead(position)
    },
    onNoPartition: async () => partitions.ensure(await reader.headPosition()),
    onFailure: warn,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  })
  const isPollDue = sharedPolls()
  const look = async (): Promise<void> => onCommitted(await reader.headPosition())
  const listener = keepListening(connection, look)
  return {
    append: async (streams) => queue.append(encodeAppend(streams)),
    readStream: (stream, from = 0, limit = 1_000_000) => reader.readStream(stream, from, limit),
    readAll: reader.readAll,
    eventAt: async (position) => (await reader.readAll(position - 1, 1))[0] ?? null,
    headPosition: reader.headPosition,
    subscribeAll: (after, onBatch, onError, options) => {
      const stopped = new AbortController()
      const { queryDelayMs = 0 } = options ?? {}
      const shared = { recent, reader, notification, head: () => head, isPollDue, look }
      const readPage = pageReader({ ...shared, stopped: stopped.signal, queryDelayMs })
      const subscription = { ...options, readPage, notification, after, onBatch, onError }
      return subscribeKeeping(recent, { ...subscription, onReadFailure: warn }, stopped)
    },
    commits: watchCommits(() => head, notification),
    close: async () => {
      notification.close()
      await queue.close()
      await listener.close()
      await pg.end()
    },
  }
}

/**
 * Returns a function that passes positions on to `notify`, at most once per `ms` milliseconds. A
 * position that arrives earlier waits until this time is over. Of several waiting positions, only
 * the highest is passed on.
 */
function atIntervals(ms: number, notify: (position: number) => void): (position: number) => void {
  let highest = 0
  let notified = 0
  let timer: NodeJS.Timeout | null = null
  const next = (): void => {
    timer = null
    if (highest <= notified) return
    notified = highest
    timer = setTimeout(next, ms).unref()
    notify(notified)
  }
  return (position) => {
    highest = Math.max(highest, position)
    if (timer === null) next()
  }
}

function watchCommits(head: () => number, notification: ReaderNotification): CommitWatch {
  return {
    position: head,
    waitBeyond: async (position, timeoutMs, signal) => {
      const until = performance.now() + timeoutMs
      while (head() <= position && !notification.isClosed() && !signal.aborted) {
        const left = until - performance.now()
        if (left <= 0) return
        await notification.waitBeyond(notification.count(), left, signal)
      }
    },
  }
}

/**
 * Returns a function that reports whether a poll is due. If it is due, the caller must poll the
 * store at once. All subscriptions share a poll, because the last position that a poll finds is
 * announced to all of them.
 */
function sharedPolls(): () => boolean {
  let polledAt = Number.NEGATIVE_INFINITY
  return () => {
    const isDue = performance.now() - polledAt > SHARED_POLL_MS
    if (isDue) polledAt = performance.now()
    return isDue
  }
}

type PageReaderDeps = {
  readonly recent: RecentEvents
  readonly reader: EventReader
  readonly notification: ReaderNotification
  /** Returns the last known position. */
  readonly head: () => number
  /** Reports whether `SHARED_POLL_MS` have passed since any subscription polled the store. */
  readonly isPollDue: () => boolean
  /** Asks the store for the last position and wakes all readers if there are new events. */
  readonly look: () => Promise<void>
  readonly stopped: AbortSignal
  readonly queryDelayMs: number
}

/**
 * Creates a function that reads the pages of one subscription, from memory if possible. After a
 * query that reached the last event, the next query waits, so that fewer queries are made.
 */
function pageReader(deps: PageReaderDeps): PagedSubscription['readPage'] {
  const { recent, reader, head, stopped } = deps
  const isOver = (): boolean => stopped.aborted || deps.notification.isClosed()
  const wait = (ms: number): Promise<void> =>
    delay(ms, undefined, { ref: false, signal: stopped }).catch(() => {})
  let pausedUntil = 0
  return async (request: PageRequest, isPoll: boolean): Promise<Page> => {
    const fromMemory = recent.read(request)
    if (fromMemory !== null) return fromMemory
    // The other readers do not poll now, so they must be told of new events before this reader
    // pauses.
    if (request.after >= head() && isPoll && deps.isPollDue()) await deps.look()
    if (request.after >= head()) return { events: [], position: request.after }
    // Another reader soon has the latest events in memory, but not events that are far behind the
    // last one.
    const isNearHead = head() - request.after <= request.limit
    const pause = Math.max(pausedUntil - performance.now(), isNearHead ? deps.queryDelayMs : 0)
    if (pause > 0) await wait(pause)
    if (isOver()) return { events: [], position: request.after }
    const fromOtherReader = recent.read(request)
    if (fromOtherReader !== null) return fromOtherReader
    const end = head()
    const page = await reader.readPage(request, end)
    if (request.streamPrefixes === null) recent.addRead(request.after, page)
    pausedUntil = page.position < end ? 0 : performance.now() + FOREIGN_COMMIT_MS
    return page
  }
}

/**
 * Starts a subscription. While the subscription runs, recent events that match it are kept in
 * memory.
 */
function subscribeKeeping(
  recent: RecentEvents,
  options: PagedSubscription,
  stopped: AbortController,
): Subscription {
  const { streamPrefixes, onError } = options
  const release = recent.keep(streamPrefixes === undefined ? null : streamFilter(streamPrefixes))
  const subscription = subscribe({
    ...options,
    onError: (error) => {
      release()
      onError(error)
    },
  })
  return {
    stop: async () => {
      stopped.abort()
      release()
      await subscription.stop()
    },
  }
}

const failureLog =
  (log: Logger) =>
  (error: unknown): void =>
    warnThrottled(
      log,
      { reason: reasonOf(error) },
      'a request to the event store failed and will be retried',
    )

function createReadPool(connectionString: string): Pool {
  const pg = new Pool({
    connectionString: withDurableCommits(connectionString),
    max: 6,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: 15_000,
  })
  surviveLostConnections(pg, () => {})
  return pg
}

function partitionKeeper(pg: Pool, size: number, log: Logger) {
  let end = 0
  let running: Promise<void> | null = null
  const ensure = async (position: number): Promise<void> => {
    await ensurePartitions(pg, position + 1, size)
    end = (Math.floor((position + 1) / size) + 2) * size
  }
  return {
    ensure,
    /** Creates the next partition in the background when the newest partition is in use. */
    keepAhead: (position: number): void => {
      if (position < end - size || running !== null) return
      running = ensure(position)
        .catch((error: Error) =>
          log.warn({ reason: error.message }, 'the next partition could not be created yet'),
        )
        .finally(() => {
          running = null
        })
    },
  }
}
