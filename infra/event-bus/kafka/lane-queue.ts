import type { KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import type { LaneDelivery } from './deliver-lanes.ts'
import {
  decodeMessage,
  type GaplessBatch,
  gaplessBatches,
  type LaneMessage,
} from './lane-message.ts'

/** The partition is paused above this number of waiting messages, and resumed below half of it. */
const WAITING_MAX = 2_000
const BATCH_MAX = 1_000
const RETRY_MS = 200
const LOG_EVERY_MS = 60_000

export type LaneQueue = {
  readonly push: (messages: readonly KafkaMessage[]) => void
  readonly work: () => void
  readonly clear: () => void
  readonly isDelivering: () => boolean
  /**
   * The `performance.now()` at which a message last advanced the position of the lane. Unlike
   * `lastMessageAt`, this time ignores repeated messages.
   */
  readonly lastProgressAt: () => number
  readonly lastMessageAt: () => number
}

type Deps = {
  readonly lane: number
  readonly delivery: LaneDelivery
  readonly history: () => Promise<string | null>
  readonly headPosition: () => Promise<number>
  readonly log: Logger
  /** Called when all messages up to this offset have been processed. */
  readonly done: (offset: string) => void
  readonly setPaused: (isPaused: boolean) => void
}

/** Queues the messages of one lane, so that a slow lane can't delay the consumer. */
export function createLaneQueue(deps: Deps): LaneQueue {
  const { lane, delivery, log, setPaused } = deps
  let waiting: KafkaMessage[] = []
  let isWorking = false
  let retry: NodeJS.Timeout | undefined
  let lastMessageAt = Number.NEGATIVE_INFINITY
  const decode = createDecoder(deps)
  const deliverer = createDeliverer(deps)
  const shouldLogFailure = createLogThrottle()

  const processNext = async (): Promise<void> => {
    const next = waiting.slice(0, BATCH_MAX)
    const last = next.at(-1)
    if (last === undefined || delivery.deliveredUpTo(lane) === null) return
    // Messages are decoded outside of `runExclusive`, because decoding may query the store and must
    // not block the feed of this lane.
    const found = await decode(next)
    await delivery.runExclusive([lane], async () => {
      if (!(await deliverer.deliverDecoded(found))) return
      // `clear` may have emptied the queue during the delivery.
      waiting = waiting[0] === next[0] ? waiting.slice(next.length) : waiting
      deps.done(last.offset)
      if (waiting.length < WAITING_MAX / 2) setPaused(false)
    })
  }
  const work = (): void => {
    if (isWorking || waiting.length === 0) return
    isWorking = true
    clearTimeout(retry)
    const before = waiting[0]
    const onFailure = (err: unknown): void => {
      if (shouldLogFailure()) log.warn({ err, lane }, 'a lane failed and will be retried')
    }
    void processNext()
      .catch(onFailure)
      .then(() => {
        isWorking = false
        // If the first message is still in the queue, the attempt failed or the lane is not ready.
        if (waiting[0] === before) retry = setTimeout(work, RETRY_MS)
        else work()
      })
  }
  return {
    work,
    push: (messages) => {
      waiting.push(...messages)
      lastMessageAt = performance.now()
      if (waiting.length > WAITING_MAX) setPaused(true)
      work()
    },
    clear: () => {
      waiting = []
      clearTimeout(retry)
      setPaused(false)
    },
    isDelivering: deliverer.isDelivering,
    lastProgressAt: deliverer.lastProgressAt,
    lastMessageAt: () => lastMessageAt,
  }
}

type Decoded = { readonly messages: readonly LaneMessage[]; readonly gapUpTo: number }

function createDeliverer({ lane, delivery }: Deps) {
  let isDelivering = false
  let lastProgressAt = Number.NEGATIVE_INFINITY
  const deliver = async (batches: readonly GaplessBatch[]): Promise<boolean> => {
    for (const batch of batches) {
      lastProgressAt = performance.now()
      await delivery.deliver({ lanes: [lane], ...batch })
      // If the lane was lost, the next process that acquires the lane receives the remaining
      // messages from Kafka.
      if ((delivery.deliveredUpTo(lane) ?? -1) < batch.position) return false
    }
    return true
  }
  return {
    /** Returns false when the lane is not ready, or was lost during the delivery. */
    deliverDecoded: async ({ messages, gapUpTo }: Decoded): Promise<boolean> => {
      const delivered = delivery.deliveredUpTo(lane)
      if (delivered === null) return false
      isDelivering = true
      return await deliver(gaplessBatches(delivered, messages, gapUpTo)).finally(() => {
        isDelivering = false
      })
    },
    isDelivering: (): boolean => isDelivering,
    lastProgressAt: (): number => lastProgressAt,
  }
}

/** Decodes messages. An unreadable message counts as a gap up to the store's last event. */
function createDecoder({ lane, history, headPosition, log }: Deps) {
  const [shouldLogUnreadable, shouldLogForeign] = [createLogThrottle(), createLogThrottle()]
  return async (next: readonly KafkaMessage[]): Promise<Decoded> => {
    const ownHistory = await history()
    // A store without events has no history id, so no message can belong to its history.
    const found = next.map((message) =>
      ownHistory === null ? null : decodeMessage(message, ownHistory),
    )
    const messages = found.filter((each) => each !== null && each !== 'unreadable')
    if (found.includes(null) && shouldLogForeign()) {
      log.warn({ lane }, 'messages of another history of events in the Kafka topic are ignored')
    }
    const first = next[found.indexOf('unreadable')]
    if (first === undefined) return { messages, gapUpTo: 0 }
    if (shouldLogUnreadable()) {
      const { offset } = first
      log.warn({ lane, offset }, 'an unreadable Kafka message is replaced by a read of the store')
    }
    return { messages, gapUpTo: await headPosition() }
  }
}

function createLogThrottle(): () => boolean {
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    const isDue = performance.now() - loggedAt > LOG_EVERY_MS
    if (isDue) loggedAt = performance.now()
    return isDue
  }
}
