import { randomUUID } from 'node:crypto'
import type { Kafka } from 'kafkajs'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { type ConsumerSession, keepConsuming } from './consumer-session.ts'
import { withAdmin, within } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'
import { headOf } from './lane-message.ts'

const DELETE_GROUP_MS_MAX = 3_000

type Deps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly store: EventStore
  readonly history: () => Promise<string | null>
  readonly timings: KafkaTimings
  readonly log: Logger
}

export type Watch = Pick<ConsumerSession, 'operatorError' | 'stop'>

/**
 * Calls `onCommitted` with the position of each message. The event store is also polled, because
 * messages may be missing. Each process has a separate consumer group, which commits no offsets.
 */
export function watchPositions(deps: Deps, onCommitted: (position: number) => void): Watch {
  const { kafka, topic, store, timings, log } = deps
  const groupId = `tallygate-watch-${randomUUID()}`
  let notified = -1
  let isStopped = false
  const notify = (position: number): void => {
    if (isStopped || position <= notified) return
    notified = position
    onCommitted(position)
  }
  const poll = async (): Promise<void> => notify(await store.headPosition())
  const session = keepConsuming({
    kafka,
    topic,
    groupId,
    timings,
    log,
    onMessages: (_lane, messages) => {
      void deps.history().then(
        (history) => {
          const heads = messages.map(headOf).filter((head) => head?.history === history)
          notify(Math.max(-1, ...heads.map((head) => head?.position ?? -1)))
        },
        (err: unknown) => log.debug({ err }, 'reading the history of events failed'),
      )
    },
  })
  const polling = setInterval(
    () => void poll().catch((err: unknown) => log.debug({ err }, 'polling the event store failed')),
    timings.headPollMs,
  )
  return {
    operatorError: session.operatorError,
    stop: async () => {
      isStopped = true
      clearInterval(polling)
      await session.stop()
      // The group is deleted, because a broker keeps an empty group without commits for a long
      // time.
      const forgotten = withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
      await within(
        DELETE_GROUP_MS_MAX,
        forgotten.catch(() => []),
      )
    },
  }
}
