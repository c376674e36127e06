import type { KafkaMessage } from 'kafkajs'
import { isCurrent, type Leases } from '../../leases/exclusive-leases.ts'
import type { LaneWork, LaneWorker } from '../port.ts'
import { type ConsumerSession, detectStalledConsumer, keepConsuming } from './consumer-session.ts'
import { createLaneDelivery } from './deliver-lanes.ts'
import { feedStalledLanes } from './feed-stalled-lanes-from-event-store.ts'
import type { KafkaTimings } from './kafka-timings.ts'
import { createLaneLeases } from './lane-leases.ts'
import { createLaneQueue, type LaneQueue } from './lane-queue.ts'
import type { PublisherDeps } from './publisher.ts'

export type WorkDeps = PublisherDeps & { readonly leases: Leases }

type KafkaWork = LaneWork & {
  /**
   * Reports whether events of some lanes (partitions of the streams) are read from the event store,
   * because Kafka does not deliver them. While this process is a member of its consumer group, only
   * the last `RECENTLY_FED_MS` count.
   */
  readonly isDegraded: () => boolean
  readonly operatorError: ConsumerSession['operatorError']
}

/**
 * The time in milliseconds for which this worker counts as degraded after its last events from the
 * event store. A lane leaves the feed only when a new message arrives from Kafka, so an idle lane
 * in the feed does not show that Kafka is broken.
 */
const RECENTLY_FED_MS = 30_000

/**
 * Consumes the topic in the Kafka group `name`. Acquires a lease for each lane that the group
 * assigns to this process.
 */
export function createKafkaLaneWorker(deps: WorkDeps, name: string, worker: LaneWorker): KafkaWork {
  const { kafka, topic, store, leases, timings, log } = deps
  const consumer = { kafka, topic, timings, log }
  const delivery = createLaneDelivery(worker, { log, name })
  const queues = createQueues((lane) =>
    createLaneQueue({
      lane,
      delivery,
      history: deps.history,
      log,
      headPosition: () => store.headPosition(),
      done: (offset) => session.done(lane, offset),
      setPaused: (isPaused) => session.setPaused(lane, isPaused),
    }),
  )
  const laneLeases = createLaneLeases({
    leases,
    name,
    timings,
    log,
    onGained: (lanes) => {
      delivery.gain(lanes, () => store.headPosition())
      for (const lane of lanes) queues.of(lane).work()
    },
    onLost: (lanes) => delivery.lose(lanes),
  })
  const session: ConsumerSession = keepConsuming({
    ...consumer,
    groupId: `tallygate-${name}`,
    onAssigned: (lanes) => {
      queues.clearExcept(lanes)
      laneLeases.assign(lanes)
    },
    onMessages: (lane: number, messages: readonly KafkaMessage[]) => queues.of(lane).push(messages),
  })
  const feed = createFeed(deps, name, delivery, queues)
  const checking = watchAbsence(session, laneLeases, timings)
  const stallDetector = detectStalledConsumer({
    ...consumer,
    isSuspected: () => feed.isFeeding() && session.outOfGroupSince() === null,
    lastMessageAt: (lane) =>
      delivery.deliveredUpTo(lane) === null ? null : queues.of(lane).lastMessageAt(),
    onStalled: () => session.replace('messages are in the topic and are not received'),
  })
  return {
    isStillMine: (client, lanes) => hasLeases(client, lanes, laneLeases),
    isDegraded: () => feed.isFeeding() && (session.outOfGroupSince() !== null || isRecent(feed)),
    operatorError: session.operatorError,
    stop: async () => {
      clearInterval(checking)
      stallDetector.stop()
      // A failed delivery is retried as long as this process has the lease of the lane. Releasing
      // the leases first makes all deliveries end.
      await laneLeases.stop()
      await feed.stop()
      await session.stop()
      queues.clearExcept([])
    },
  }
}

type Delivery = ReturnType<typeof createLaneDelivery>
type LaneLeases = ReturnType<typeof createLaneLeases>
type Queues = ReturnType<typeof createQueues>

/** Creates the feed, which delivers events from the event store while Kafka does not. */
const createFeed = (deps: WorkDeps, name: string, delivery: Delivery, queues: Queues) =>
  feedStalledLanes({
    store: deps.store,
    delivery,
    timings: deps.timings,
    log: deps.log,
    name,
    lastProgressAt: (lane) => queues.of(lane).lastProgressAt(),
    isDelivering: (lane) => queues.of(lane).isDelivering(),
  })

/** Reports whether this process still holds the leases of all `lanes`. */
async function hasLeases(
  client: Parameters<LaneWork['isStillMine']>[0],
  lanes: readonly number[],
  laneLeases: LaneLeases,
): Promise<boolean> {
  const leases = lanes.map(laneLeases.leaseOf).filter((lease) => lease !== undefined)
  return leases.length === lanes.length && (await isCurrent(client, leases))
}

const isRecent = ({ lastFedAt }: { readonly lastFedAt: () => number }): boolean =>
  performance.now() - lastFedAt() < RECENTLY_FED_MS

/**
 * Checks regularly how long this process has been out of its consumer group. After `outOfGroupMs`,
 * the process acquires all unleased lanes, because all other processes may have left the group as
 * well.
 */
const watchAbsence = (
  session: ConsumerSession,
  laneLeases: LaneLeases,
  { outOfGroupMs }: KafkaTimings,
): NodeJS.Timeout =>
  setInterval(() => {
    const outOfGroupSince = session.outOfGroupSince()
    if (outOfGroupSince !== null && performance.now() - outOfGroupSince > outOfGroupMs)
      laneLeases.assign(null)
  }, outOfGroupMs / 4)

/** Creates one queue per lane, in which messages wait for the lane's lease. */
function createQueues(create: (lane: number) => LaneQueue) {
  const queues = new Map<number, LaneQueue>()
  return {
    of: (lane: number): LaneQueue => {
      const queue = queues.get(lane) ?? create(lane)
      queues.set(lane, queue)
      return queue
    },
    clearExcept: (lanes: readonly number[]): void => {
      for (const [lane, queue] of queues) if (!lanes.includes(lane)) queue.clear()
    },
  }
}
