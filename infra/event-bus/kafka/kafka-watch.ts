import { randomUUID } from 'node:crypto'
import type { Kafka } from 'kafkajs'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { type ConsumerSession, keepConsuming } from './consumer-session.ts'
import { withAdmin, within } from './kafka-client.ts'
import { headOf } from './message.ts'
import type { KafkaTimings } from './timings.ts'

const DELETE_GROUP_MS_MAX = 3_000

type Deps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly store: EventStore
  readonly history: () => Promise<string | null>
  readonly timings: KafkaTimings
  readonly log: Logger
}

export type Watch = Pick<ConsumerSession, 'fault' | 'stop'>

/**
 * Tells of positions as messages come, by a group of this process alone that commits nothing. The
 * head of the store is looked at besides: Kafka makes news quick, the store makes it certain.
 */
export function watchTopic(deps: Deps, onNews: (position: number) => void): Watch {
  const { kafka, topic, store, timings, log } = deps
  const groupId = `tallygate-watch-${randomUUID()}`
  let told = -1
  let isStopped = false
  const tell = (position: number): void => {
    if (isStopped || position <= told) return
    told = position
    onNews(position)
  }
  const look = async (): Promise<void> => tell(await store.headPosition())
  const session = keepConsuming({
    ...{ kafka, topic, groupId, timings, log },
    onMessages: (_lane, messages) => {
      void deps.history().then(
        (history) => {
          const heads = messages.map(headOf).filter((head) => head?.history === history)
          tell(Math.max(-1, ...heads.map((head) => head?.position ?? -1)))
        },
        (err: unknown) => log.debug({ err }, 'no history to compare with'),
      )
    },
  })
  const looking = setInterval(
    () => void look().catch((err: unknown) => log.debug({ err }, 'no look at the store')),
    timings.headPollMs,
  )
  return {
    fault: session.fault,
    stop: async () => {
      isStopped = true
      clearInterval(looking)
      await session.stop()
      // A broker forgets empty groups without commits by itself, but not soon.
      const forgotten = withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
      await within(
        DELETE_GROUP_MS_MAX,
        forgotten.catch(() => []),
      )
    },
  }
}
