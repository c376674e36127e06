import { setTimeout as delay } from 'node:timers/promises'
import { type AllStreamSubscription, excludeSystemEvents } from '@eventstore/db-client'
import type { Logger } from 'pino'
import type { Recorded } from '#domain/shared/event.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { OnBatch, SubscribeOptions, Subscription } from '../port.ts'
import { type StreamFilter, streamFilter } from '../subscription.ts'
import type { Connection } from './connection.ts'
import { exactPosition } from './event-reads.ts'
import { type Resolved, safePosition, storedEvent } from './stored-event.ts'

const BATCH_DEFAULT = 500
const REOPEN_MS = 100

type Tail = {
  readonly connection: Connection
  readonly headPosition: () => Promise<number>
  readonly log: Logger
  readonly after: number
  readonly onBatch: OnBatch
  readonly onError: (error: unknown) => void
  readonly options?: SubscribeOptions | undefined
  /** The time without an event in milliseconds after which the store's last position is checked. */
  readonly idleCheckMs: number
  readonly onStopped: () => void
}

/**
 * Delivers every event after `after`. The subscription is reopened if it breaks, or if it delivers
 * nothing although there are new events.
 *
 * Stream prefixes are filtered in this process. A filter in the server would report positions too
 * rarely, and readers that wait for a position would time out.
 */
export function subscribeToAll(tail: Tail): Subscription {
  const { connection, log, onBatch, idleCheckMs, options = {} } = tail
  const { streamPrefixes, maxBatch = BATCH_DEFAULT } = options
  const isWanted = streamPrefixes === undefined ? null : streamFilter(streamPrefixes)
  const stopping = new AbortController()
  let position = tail.after
  let feed: BufferedSubscription | null = null

  /**
   * Passes events to the consumer. Resolves when the subscription is broken or stopped. Rejects
   * when the consumer fails.
   */
  const consume = async (open: BufferedSubscription): Promise<void> => {
    while (!stopping.signal.aborted) {
      const resolvedEvents = await open.take(maxBatch, idleCheckMs)
      if (resolvedEvents === 'broken' || stopping.signal.aborted) return
      if (resolvedEvents === 'idle') {
        if (await isSilent(open, position, tail)) return
        continue
      }
      const batch = batchOf(resolvedEvents, position, isWanted)
      if (batch.position === position) continue
      await onBatch(batch.events, batch.position)
      position = batch.position
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const client = connection.client()
      feed = bufferSubscription(
        client.subscribeToAll({
          fromPosition: exactPosition(position),
          filter: excludeSystemEvents(),
        }),
        maxBatch,
      )
      await consume(feed).finally(() => feed?.close())
      if (stopping.signal.aborted) return
      warnThrottled(
        log,
        { position, reason: feed.reason() },
        'a subscription was interrupted and is reopened',
      )
      connection.replace(client)
      await delay(REOPEN_MS * (0.5 + Math.random()))
    }
  }
  const running = run()
    .catch((error: unknown) => {
      if (!stopping.signal.aborted) tail.onError(error)
    })
    .finally(tail.onStopped)
  return {
    stop: async () => {
      stopping.abort()
      feed?.close()
      await running
    },
  }
}

/** Builds a batch without events that were already delivered or that `isWanted` rejects. */
function batchOf(
  resolvedEvents: readonly Resolved[],
  after: number,
  isWanted: StreamFilter | null,
): { events: readonly Recorded[]; position: number } {
  const events: Recorded[] = []
  let position = after
  for (const resolved of resolvedEvents) {
    const at = safePosition(resolved.event?.position?.commit ?? resolved.commitPosition)
    if (at <= position) continue
    position = at
    const recorded = storedEvent(resolved)?.recorded
    if (recorded !== undefined && isWanted?.(recorded.stream) !== false) events.push(recorded)
  }
  return { events, position }
}

/** Reports whether the subscription delivers nothing although there are new events. */
async function isSilent(
  open: BufferedSubscription,
  position: number,
  { headPosition, idleCheckMs }: Tail,
): Promise<boolean> {
  const head = await headPosition().catch(() => 0)
  return head > position && (await open.staysEmpty(idleCheckMs))
}

type BufferedSubscription = {
  /**
   * Returns up to `limit` events. Waits at most `idleMs` milliseconds for the first event. Returns
   * `idle` if no event arrives, and `broken` if the subscription has ended.
   */
  readonly take: (limit: number, idleMs: number) => Promise<readonly Resolved[] | 'idle' | 'broken'>
  readonly staysEmpty: (ms: number) => Promise<boolean>
  readonly reason: () => string
  readonly close: () => void
}

/**
 * Buffers the events of a subscription. While the buffer is full, the stream is paused, so that
 * EventStoreDB stops sending events.
 */
function bufferSubscription(
  subscription: AllStreamSubscription,
  batch: number,
): BufferedSubscription {
  const readable = subscription as unknown as NodeJS.ReadableStream & AllStreamSubscription
  const eventsMax = batch * 2
  let events: Resolved[] = []
  let broken: string | null = null
  let wake = (): void => {}

  const end = (reason: string): void => {
    broken ??= reason
    wake()
  }
  // NOTE: an error without a listener would end the process, so the listener is never removed.
  readable.on('error', (error: Error) => end(error.message))
  readable.on('end', () => end('ended'))
  readable.on('close', () => end('closed'))
  readable.on('data', (resolved) => {
    events.push(resolved as never)
    if (events.length >= eventsMax) readable.pause()
    wake()
  })
  const something = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (events.length > 0 || broken !== null) return resolve()
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    take: async (limit, idleMs) => {
      await something(idleMs)
      if (events.length === 0) return broken === null ? 'idle' : 'broken'
      const batch = events.slice(0, limit)
      events = events.slice(limit)
      if (broken === null) readable.resume()
      return batch
    },
    staysEmpty: async (ms) => {
      await something(ms)
      return events.length === 0
    },
    reason: () => broken ?? 'silent',
    close: () => {
      end('closed')
      readable.pause()
      subscription.unsubscribe().catch(() => {})
    },
  }
}
