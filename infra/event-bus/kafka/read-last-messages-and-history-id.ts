import { randomUUID } from 'node:crypto'
import type { Kafka } from 'kafkajs'
import type { EventStore } from '#infra/event-store/port.ts'
import { LANE_COUNT } from '../lane-of-stream.ts'
import { disconnect, withAdmin, within } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'
import { headOf, type MessageHead } from './lane-message.ts'

const READ_MS_MAX = 20_000

/**
 * Returns, by lane, the headers of the lane's last message: the range of positions that the message
 * covers, and the id of the event store's history. Lanes without messages are left out. Throws on a
 * timeout.
 */
export async function readLastMessages(
  kafka: Kafka,
  topic: string,
  timings: KafkaTimings,
): Promise<Map<number, MessageHead>> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const nonEmpty = offsets.filter(
    ({ partition, low, high }) => partition < LANE_COUNT && BigInt(high) > BigInt(low),
  )
  const lastOffsets = new Map(nonEmpty.map(({ partition, high }) => [partition, BigInt(high) - 1n]))
  const ends = new Map<number, MessageHead>()
  if (lastOffsets.size === 0) return ends
  // kafkajs can read only as a member of a consumer group. This temporary group commits no offsets.
  const consumer = kafka.consumer({
    groupId: `tallygate-ends-${randomUUID()}`,
    sessionTimeout: timings.sessionTimeoutMs,
    heartbeatInterval: timings.heartbeatMs,
    maxWaitTimeInMs: timings.fetchWaitMs,
    allowAutoTopicCreation: false,
    retry: { retries: 2, restartOnFailure: async () => false },
  })
  const found = Promise.withResolvers<true>()
  consumer.on(consumer.events.CRASH, ({ payload }) => found.reject(payload.error))
  // NOTE: if the consumer crashes while it joins its group, `run` resolves and `seek` throws, so
  // `found.promise` is never awaited. This handler prevents an unhandled rejection.
  found.promise.catch(() => {})
  const read = async (): Promise<true> => {
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { partition, messages } }) => {
        const last = lastOffsets.get(partition)
        for (const message of messages) {
          if (last === undefined || BigInt(message.offset) < last) continue
          const head = headOf(message)
          if (head !== null) ends.set(partition, head)
          lastOffsets.delete(partition)
        }
        if (lastOffsets.size === 0) found.resolve(true)
      },
    })
    for (const [partition, last] of lastOffsets) {
      consumer.seek({ topic, partition, offset: String(last) })
    }
    return await found.promise
  }
  try {
    const isFound = await within(READ_MS_MAX, read())
    if (isFound === null) throw new Error('the end of the Kafka topic could not be read in time')
    return ends
  } finally {
    await disconnect(consumer)
  }
}

/**
 * Returns a function that reads the history id, by which messages of another event store are
 * recognized. The history id consists of the id and position of the first event. The result is null
 * while there are no events.
 */
export function createHistoryIdReader(
  store: Pick<EventStore, 'readAll'>,
): () => Promise<string | null> {
  let cached: string | null = null
  return async () => {
    if (cached !== null) return cached
    const [first] = await store.readAll(0, 1)
    if (first !== undefined) cached = `${first.id}@${first.position}`
    return cached
  }
}
