import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { ALL_LANES, laneOf } from '../lanes.ts'
import type { LaneDelivery } from './lane-delivery.ts'
import type { KafkaTimings } from './timings.ts'

const BATCH_MAX = 1_000

type Deps = {
  readonly store: EventStore
  readonly delivery: LaneDelivery
  readonly timings: Pick<KafkaTimings, 'stallMs' | 'headPollMs' | 'storePollMs'>
  readonly log: Logger
  readonly name: string
  /** When Kafka last told something new of the lane, by `performance.now()`. */
  readonly lastNews: (lane: number) => number
  /** The worker has something from Kafka in hand. */
  readonly isDelivering: (lane: number) => boolean
}

export type StoreFeed = {
  readonly isFeeding: () => boolean
  /** When events last came this way, by `performance.now()`. */
  readonly lastFed: () => number
  readonly stop: () => Promise<void>
}

/**
 * Feeds lanes from the event store for as long as Kafka does not, whatever the reason: no broker,
 * no publisher, a deaf consumer, a topic that is gone, messages that can't be worked off. A lane
 * is stalled when the store has been further than it for `stallMs`, and no news of it came from
 * Kafka in that time.
 */
export function feedFromStore(deps: Deps): StoreFeed {
  const { store, delivery, timings, log, name } = deps
  const stopping = new AbortController()
  /** Lanes that the store feeds now. */
  const fed = new Set<number>()
  let lastFed = Number.NEGATIVE_INFINITY
  const isStalled = createStallWatch(deps, fed)
  /** Answers whether there may be more at once. */
  const feed = async (lanes: readonly number[], head: number): Promise<boolean> => {
    const after = Math.min(...lanes.map((lane) => delivery.handed(lane) ?? head))
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
    if (events.length > 0) lastFed = performance.now()
    return isFull
  }
  const turn = async (): Promise<void> => {
    const wasFed = fed.size > 0
    let isMore = true
    while (isMore && !stopping.signal.aborted) {
      isMore = false
      const head = await store.headPosition()
      const now = performance.now()
      const stalled = ALL_LANES.filter((lane) => isStalled(lane, head, now))
      if (stalled.length === 0) break
      await delivery.alone(stalled, async (lanes) => {
        isMore = await feed(lanes, head)
      })
    }
    if (!wasFed && fed.size > 0) {
      log.warn({ work: name }, 'nothing comes from Kafka: the event store is read instead')
    } else if (wasFed && fed.size === 0) log.info({ work: name }, 'events come from Kafka again')
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await turn().catch((err: unknown) => log.debug({ err, work: name }, 'no look at the store'))
      const pauseMs = fed.size > 0 ? timings.storePollMs : timings.headPollMs
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    isFeeding: () => fed.size > 0,
    lastFed: () => lastFed,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

function createStallWatch({ delivery, timings, lastNews, isDelivering }: Deps, fed: Set<number>) {
  const behindSince = new Map<number, number>()
  return (lane: number, head: number, now: number): boolean => {
    const handed = delivery.handed(lane)
    const isSilent = now - lastNews(lane) > timings.stallMs && !isDelivering(lane)
    if (!isSilent || handed === null) fed.delete(lane)
    if (handed === null || handed >= head) {
      behindSince.delete(lane)
      return false
    }
    const since = behindSince.get(lane) ?? now
    behindSince.set(lane, since)
    return isSilent && (fed.has(lane) || now - since > timings.stallMs)
  }
}
