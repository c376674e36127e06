import type { Kafka } from 'kafkajs'
import { withAdmin } from './kafka-client.ts'
import type { KafkaTimings } from './timings.ts'

type Deps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly timings: Pick<KafkaTimings, 'silentMs'>
  /** The store feeds lanes although the consumer is in its group. */
  readonly isSuspected: () => boolean
  /** When a message last came for the lane; null: it is not expected here. */
  readonly lastCame: (lane: number) => number | null
  readonly onDeaf: () => void
}

/**
 * Tells when messages are added to the topic and do not come, while heartbeats go on: with several
 * brokers, the connection to one may have died alone. Without new messages it is not the consumer.
 */
export function detectStalledConsumer(deps: Deps): { readonly stop: () => void } {
  const { kafka, topic } = deps
  let seenAt = performance.now()
  let ends: ReadonlyMap<number, string> | null = null
  const look = async (): Promise<void> => {
    if (!deps.isSuspected()) {
      ends = null
      return
    }
    const before = ends
    const beforeAt = seenAt
    seenAt = performance.now()
    const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
    ends = new Map(offsets.map(({ partition, high }) => [partition, high]))
    const isDeaf = offsets.some(({ partition, high }) => {
      const lastCame = deps.lastCame(partition)
      if (before === null || lastCame === null || lastCame > beforeAt) return false
      return BigInt(high) > BigInt(before.get(partition) ?? high)
    })
    if (isDeaf && deps.isSuspected()) deps.onDeaf()
  }
  // Without an answer nothing is known, and the next look follows.
  const looking = setInterval(() => void look().catch(() => {}), deps.timings.silentMs / 2)
  return { stop: () => clearInterval(looking) }
}
