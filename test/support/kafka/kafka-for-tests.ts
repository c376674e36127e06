import { startKafkaContainer } from './kafka-container.ts'
import { type KafkaProcess, startKafkaProcess } from './kafka-process.ts'
import { mavenKafka } from './maven-kafka.ts'
import { startMockCluster } from './mock-cluster.ts'

export type TestKafka = KafkaProcess & {
  /**
   * Tests must not kill a `given` broker, which is external. A `mock` cluster can't create a topic
   * with a partition per lane.
   */
  readonly kind: 'maven' | 'container' | 'given' | 'mock'
}

/**
 * Starts the best available Kafka: a broker by Maven and Java, a broker in Docker, the brokers in
 * `KAFKA_BROKERS`, or librdkafka's mock cluster. Returns the reason if there is none. The caller
 * calls `stop`.
 */
export async function kafkaForTests(): Promise<TestKafka | { readonly skip: string }> {
  const maven = await mavenKafka()
  if ('libs' in maven) return { kind: 'maven', ...(await startKafkaProcess(maven.libs)) }
  const container = await startKafkaContainer()
  if (container !== null) return { kind: 'container', ...container }
  const given = process.env.KAFKA_BROKERS?.split(',').filter((broker) => broker !== '')
  if (given !== undefined && given.length > 0) return givenKafka(given)
  const mock = await startMockCluster()
  if (mock !== null) return { kind: 'mock', ...mock }
  return { skip: `no Kafka: ${maven.missing}, no Docker, no KAFKA_BROKERS, no kcat` }
}

/** Returns the part of a suite's title that names the Kafka, or why the suite is skipped. */
export function placeOf(kafka: TestKafka | { readonly skip: string }): {
  readonly isMissing: boolean
  readonly place: string
} {
  if ('skip' in kafka) return { isMissing: true, place: `skipped: ${kafka.skip}` }
  if (kafka.kind !== 'mock') return { isMissing: false, place: kafka.kind }
  const why = 'no Kafka but the mock cluster, whose topics have fewer partitions than lanes'
  return { isMissing: true, place: `skipped: ${why}` }
}

function givenKafka(brokers: string[]): TestKafka {
  const refuse = async (): Promise<void> => {
    throw new Error('the brokers of KAFKA_BROKERS are not ours to kill')
  }
  return { kind: 'given', brokers, kill: refuse, restart: refuse, stop: async () => {} }
}
