import type { Kafka, KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { isCurrent, type Leases } from '../../leases/leases.ts'
import type { LaneWork, LaneWorker } from '../port.ts'
import { type ConsumerSession, detectStalledConsumer, keepConsuming } from './consumer-session.ts'
import { createLaneDelivery } from './lane-delivery.ts'
import { createLaneLeases } from './lane-leases.ts'
import { createLaneQueue, type LaneQueue } from './lane-queue.ts'
import { feedFromStore } from './store-feed.ts'
import type { KafkaTimings } from './timings.ts'

export type WorkDeps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly store: EventStore
  readonly leases: Leases
  readonly history: () => Promise<string | null>
  readonly timings: KafkaTimings
  readonly log: Logger
}

type KafkaWork = LaneWork & {
  /** Events come from the store, or would: there is no place in the group. */
  readonly isDegraded: () => boolean
  readonly fault: ConsumerSession['fault']
}

/** Where nothing happens, a Kafka that is back has nothing to show it by. */
const FED_LATELY_MS = 30_000

/** One name's work in this process: a consumer in the name's group, and the leases of its lanes. */
export function workOn(deps: WorkDeps, name: string, worker: LaneWorker): KafkaWork {
  const { kafka, topic, store, leases, timings, log } = deps
  const delivery = createLaneDelivery(worker, { log, name })
  const queues = createQueues((lane) =>
    createLaneQueue({
      ...{ lane, delivery, history: deps.history, log },
      headPosition: () => store.headPosition(),
      done: (offset) => session.done(lane, offset),
      setPaused: (isPaused) => session.setPaused(lane, isPaused),
    }),
  )
  const held = createLaneLeases({
    ...{ leases, name, timings, log },
    onGained: (lanes) => {
      delivery.gain(lanes, () => store.headPosition())
      for (const lane of lanes) queues.of(lane).work()
    },
    onLost: (lanes) => delivery.lose(lanes),
  })
  const session: ConsumerSession = keepConsuming({
    ...{ kafka, topic, timings, log },
    groupId: `tallygate-${name}`,
    onAssigned: (lanes) => {
      queues.clearBut(lanes)
      held.want(lanes)
    },
    onMessages: (lane: number, messages: readonly KafkaMessage[]) => queues.of(lane).push(messages),
  })
  const feed = feedFromStore({
    ...{ store, delivery, timings, log, name },
    lastNews: (lane) => queues.of(lane).lastNews(),
    isDelivering: (lane) => queues.of(lane).isDelivering(),
  })
  const looking = lookForAbsence(session, held, timings)
  const deafness = detectStalledConsumer({
    ...{ kafka, topic, timings },
    isSuspected: () => feed.isFeeding() && session.awaySince() === null,
    lastCame: (lane) => (delivery.handed(lane) === null ? null : queues.of(lane).lastCame()),
    onDeaf: () => session.replace('messages are in the topic and do not come'),
  })
  return {
    isStillMine: async (client, lanes) => {
      const mine = lanes.map(held.leaseOf).filter((lease) => lease !== undefined)
      return mine.length === lanes.length && (await isCurrent(client, mine))
    },
    isDegraded: () =>
      feed.isFeeding() &&
      (session.awaySince() !== null || performance.now() - feed.lastFed() < FED_LATELY_MS),
    fault: session.fault,
    stop: async () => {
      clearInterval(looking)
      deafness.stop()
      // The lanes first: what is handed on again and again ends with them.
      await held.stop()
      await feed.stop()
      await session.stop()
      queues.clearBut([])
    },
  }
}

/** The others may be away too, or gone: what nobody holds is better worked here than not. */
const lookForAbsence = (
  session: ConsumerSession,
  held: ReturnType<typeof createLaneLeases>,
  { awayMs }: KafkaTimings,
): NodeJS.Timeout =>
  setInterval(() => {
    const awaySince = session.awaySince()
    if (awaySince !== null && performance.now() - awaySince > awayMs) held.want(null)
  }, awayMs / 4)

/** What comes for a lane whose lease is still another's waits in its queue. */
function createQueues(create: (lane: number) => LaneQueue) {
  const queues = new Map<number, LaneQueue>()
  return {
    of: (lane: number): LaneQueue => {
      const queue = queues.get(lane) ?? create(lane)
      queues.set(lane, queue)
      return queue
    },
    clearBut: (lanes: readonly number[]): void => {
      for (const [lane, queue] of queues) if (!lanes.includes(lane)) queue.clear()
    },
  }
}
