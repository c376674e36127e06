import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { ALL_LANES, laneOf } from '../lane-of-stream.ts'
import type { LaneDelivery } from './deliver-lanes.ts'
import type { KafkaTimings } from './kafka-timings.ts'

const BATCH_MAX = 1_000

type Deps = {
  readonly store: EventStore
  readonly delivery: LaneDelivery
  readonly timings: Pick<KafkaTimings, 'stallMs' | 'headPollMs' | 'storePollMs'>
  readonly log: Logger
  readonly name: string
  /** Returns the `performance.now()` of the last Kafka message that advanced the lane. */
  readonly lastProgressAt: (lane: number) => number
  readonly isDelivering: (lane: number) => boolean
}

export type StalledLaneFeed = {
  readonly isFeeding: () => boolean
  readonly lastFedAt: () => number
  readonly stop: () => Promise<void>
}

/**
 * Feeds lanes from the event store while Kafka does not deliver. A lane counts as stalled when the
 * event store has newer events but Kafka messages have not advanced the lane for `stallMs`.
 */
export function feedStalledLanes(deps: Deps): StalledLaneFeed {
  const { store, delivery, timings, log, name } = deps
  const stopping = new AbortController()
  /** The lanes that currently receive their events from the event store. */
  const fed = new Set<number>()
  let lastFedAt = Number.NEGATIVE_INFINITY
  const isStalled = createStallDetector(deps, fed)
  /** Delivers one page of events. Returns true if the page is full, so more events may follow. */
  const feed = async (lanes: readonly number[], head: number): Promise<boolean> => {
    const after = Math.min(...lanes.map((lane) => delivery.deliveredUpTo(lane) ?? head))
    const events = await store.readAll(after, BATCH_MAX)
    const last = events.at(-1)?.position ?? after
    const isFull = events.length === BATCH_MAX
    await delivery.deliver({
      lanes,
      events: events.filter(({ stream }) => lanes.includes(laneOf(stream))),
      after,
      position: isFull ? last : Math.max(last, head),
    })
    for (const lane of lanes) fed.add(lane)
    if (events.length > 0) lastFedAt = performance.now()
    return isFull
  }
  const feedStalled = async (): Promise<void> => {
    const wasFed = fed.size > 0
    let isMore = true
    while (isMore && !stopping.signal.aborted) {
      isMore = false
      const head = await store.headPosition()
      const now = performance.now()
      const stalled = ALL_LANES.filter((lane) => isStalled(lane, head, now))
      if (stalled.length === 0) break
      await delivery.runExclusive(stalled, async (lanes) => {
        isMore = await feed(lanes, head)
      })
    }
    if (!wasFed && fed.size > 0) {
      log.warn({ work: name }, 'Kafka delivers nothing: events are read from the event store')
    } else if (wasFed && fed.size === 0) log.info({ work: name }, 'Kafka delivers events again')
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await feedStalled().catch((err: unknown) => {
        log.debug({ err, work: name }, 'reading the event store failed')
      })
      const pauseMs = fed.size > 0 ? timings.storePollMs : timings.headPollMs
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    isFeeding: () => fed.size > 0,
    lastFedAt: () => lastFedAt,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

function createStallDetector(
  { delivery, timings, lastProgressAt, isDelivering }: Deps,
  fed: Set<number>,
) {
  const behindSince = new Map<number, number>()
  return (lane: number, head: number, now: number): boolean => {
    const delivered = delivery.deliveredUpTo(lane)
    const isSilent = now - lastProgressAt(lane) > timings.stallMs && !isDelivering(lane)
    if (!isSilent || delivered === null) fed.delete(lane)
    if (delivered === null || delivered >= head) {
      behindSince.delete(lane)
      return false
    }
    const since = behindSince.get(lane) ?? now
    behindSince.set(lane, since)
    return isSilent && (fed.has(lane) || now - since > timings.stallMs)
  }
}
