import type { KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import type { LaneDelivery } from './lane-delivery.ts'
import { decodeMessage, type LaneMessage, type Portion, portionsOf } from './message.ts'

/** Beyond so much that waits, Kafka is asked for no more of this lane; below half, it is again. */
const WAITING_MAX = 2_000
const BATCH_MAX = 1_000
/** What could not be worked off is tried again after this. */
const RETRY_MS = 200
/** The same trouble of one lane is told of at most so often. */
const TELL_EVERY_MS = 60_000

export type LaneQueue = {
  readonly push: (messages: readonly KafkaMessage[]) => void
  /** Begins with what waits, if the lane is ours. */
  readonly work: () => void
  readonly clear: () => void
  /** The worker has something from Kafka in hand. */
  readonly isDelivering: () => boolean
  /** When a message last told something new, and when one last came, by `performance.now()`. */
  readonly lastNews: () => number
  readonly lastCame: () => number
}

type Deps = {
  readonly lane: number
  readonly delivery: LaneDelivery
  readonly history: () => Promise<string | null>
  readonly headPosition: () => Promise<number>
  readonly log: Logger
  /** Everything up to this offset is worked off. */
  readonly done: (offset: string) => void
  readonly setPaused: (isPaused: boolean) => void
}

/**
 * What came from Kafka for one lane and waits for the worker. The consumer never waits itself, or
 * a lane that takes its time would keep the others waiting, and its heartbeat too.
 */
export function createLaneQueue(deps: Deps): LaneQueue {
  const { lane, delivery, log, setPaused } = deps
  let waiting: KafkaMessage[] = []
  let isWorking = false
  let retry: NodeJS.Timeout | undefined
  let lastCame = Number.NEGATIVE_INFINITY
  const reading = createReading(deps)
  const handing = createHanding(deps)
  const isFailureToTell = createLimit()

  const workOff = async (): Promise<void> => {
    const taken = waiting.slice(0, BATCH_MAX)
    const last = taken.at(-1)
    if (last === undefined || delivery.handed(lane) === null) return
    // Outside of `alone`: a store that does not answer must not hold up whoever else feeds.
    const found = await reading(taken)
    await delivery.alone([lane], async () => {
      if (!(await handing.handOn(found))) return
      // `clear` may have emptied the queue under way.
      waiting = waiting[0] === taken[0] ? waiting.slice(taken.length) : waiting
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
      if (isFailureToTell()) log.warn({ err, lane }, 'a lane can not be worked off just now')
    }
    void workOff()
      .catch(onFailure)
      .then(() => {
        isWorking = false
        // The same is still in front: another has the lane, or it is not ready, or a try failed.
        if (waiting[0] === before) retry = setTimeout(work, RETRY_MS)
        else work()
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
      clearTimeout(retry)
      setPaused(false)
    },
    isDelivering: handing.isDelivering,
    lastNews: handing.lastNews,
    lastCame: () => lastCame,
  }
}

type Found = { readonly messages: readonly LaneMessage[]; readonly gapUpTo: number }

function createHanding({ lane, delivery }: Deps) {
  let isDelivering = false
  let lastNews = Number.NEGATIVE_INFINITY
  const deliver = async (portions: readonly Portion[]): Promise<boolean> => {
    for (const portion of portions) {
      lastNews = performance.now()
      await delivery.deliver({ lanes: [lane], ...portion })
      // Lost meanwhile: whoever has it now gets the rest from Kafka too.
      if ((delivery.handed(lane) ?? -1) < portion.position) return false
    }
    return true
  }
  return {
    /** False: the lane is not ready, or was lost under way. */
    handOn: async ({ messages, gapUpTo }: Found): Promise<boolean> => {
      const handed = delivery.handed(lane)
      if (handed === null) return false
      isDelivering = true
      return await deliver(portionsOf(handed, messages, gapUpTo)).finally(() => {
        isDelivering = false
      })
    },
    isDelivering: (): boolean => isDelivering,
    lastNews: (): number => lastNews,
  }
}

/**
 * What messages tell. For those that can't be read there is a gap up to the head of the store, so
 * that the worker looks there at once, whatever they were about.
 */
function createReading({ lane, history, headPosition, log }: Deps) {
  const [isUnreadableToTell, isStrangeToTell] = [createLimit(), createLimit()]
  return async (taken: readonly KafkaMessage[]): Promise<Found> => {
    const ours = await history()
    // Without any event in the store, no message can be about one.
    const found = taken.map((message) => (ours === null ? null : decodeMessage(message, ours)))
    const messages = found.filter((each) => each !== null && each !== 'unreadable')
    if (found.includes(null) && isStrangeToTell()) {
      log.warn({ lane }, 'the Kafka topic has messages of another history of events: ignored')
    }
    const first = taken[found.indexOf('unreadable')]
    if (first === undefined) return { messages, gapUpTo: 0 }
    if (isUnreadableToTell()) {
      const { offset } = first
      log.warn({ lane, offset }, 'a Kafka message could not be read: the event store is instead')
    }
    return { messages, gapUpTo: await headPosition() }
  }
}

/** True at most once per `TELL_EVERY_MS`. */
function createLimit(): () => boolean {
  let toldAt = Number.NEGATIVE_INFINITY
  return () => {
    const isDue = performance.now() - toldAt > TELL_EVERY_MS
    if (isDue) toldAt = performance.now()
    return isDue
  }
}
