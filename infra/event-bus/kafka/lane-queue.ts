import type { KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import type { LaneDelivery } from './lane-delivery.ts'
import { decodeMessage, type LaneMessage, portionsOf } from './message.ts'

/** Beyond so much that waits, Kafka is asked for no more of this lane; below half, it is again. */
const WAITING_MAX = 2_000
const BATCH_MAX = 1_000

export type LaneQueue = {
  readonly push: (messages: readonly KafkaMessage[]) => void
  /** Begins with what waits, if the lane is ours. */
  readonly work: () => void
  readonly clear: () => void
  readonly isIdle: () => boolean
  /** When a message last told something new, and when one last came, by `performance.now()`. */
  readonly lastNews: () => number
  readonly lastCame: () => number
}

type Parts = {
  readonly lane: number
  readonly delivery: LaneDelivery
  readonly history: () => Promise<string | null>
  readonly log: Logger
  /** Everything up to this offset is worked off. */
  readonly done: (offset: string) => void
  readonly setPaused: (isPaused: boolean) => void
}

/**
 * What came from Kafka for one lane and waits for the worker. The consumer never waits itself, or
 * a lane that takes its time would keep the others waiting, and its heartbeat too.
 */
export function createLaneQueue(parts: Parts): LaneQueue {
  const { lane, delivery, log, setPaused } = parts
  let waiting: KafkaMessage[] = []
  let isWorking = false
  let lastNews = Number.NEGATIVE_INFINITY
  let lastCame = Number.NEGATIVE_INFINITY

  const decoded = async (messages: readonly KafkaMessage[]): Promise<LaneMessage[]> => {
    const history = await parts.history()
    if (history === null) throw new Error('there is no event yet')
    const known = messages.map((message) => decodeMessage(message, history))
    const mine = known.filter((message) => message !== null)
    if (mine.length < known.length) {
      log.warn({ lane }, 'the Kafka topic has messages of another history of events: ignored')
    }
    return mine
  }
  const workOff = async (): Promise<void> => {
    const handed = delivery.handed(lane)
    const taken = waiting.slice(0, BATCH_MAX)
    const last = taken.at(-1)
    if (handed === null || last === undefined) return
    for (const portion of portionsOf(handed, await decoded(taken))) {
      lastNews = performance.now()
      await delivery.deliver({ lanes: [lane], ...portion })
      // Lost meanwhile: whoever has it now gets the rest from Kafka too.
      if ((delivery.handed(lane) ?? -1) < portion.position) return
    }
    // `clear` may have emptied the queue under way.
    waiting = waiting[0] === taken[0] ? waiting.slice(taken.length) : waiting
    parts.done(last.offset)
    if (waiting.length < WAITING_MAX / 2) setPaused(false)
  }
  const work = (): void => {
    if (isWorking || waiting.length === 0) return
    isWorking = true
    const before = waiting[0]
    void delivery.alone([lane], workOff).then(() => {
      isWorking = false
      // The same is still in front: it is another's lane now, or was not readable; see `work`.
      if (waiting[0] !== before) work()
    })
  }
  return {
    work,
    push: (messages) => {
      waiting.push(...messages)
      lastCame = performance.now()
      if (waiting.length > WAITING_MAX) setPaused(true)
      work()
    },
    clear: () => {
      waiting = []
      setPaused(false)
    },
    isIdle: () => !isWorking && waiting.length === 0,
    lastNews: () => lastNews,
    lastCame: () => lastCame,
  }
}
