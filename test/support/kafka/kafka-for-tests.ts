import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import { freePort, type KafkaProcess, startKafkaProcess } from './kafka-process.ts'
import { answers, KAFKA_VERSION, mavenKafka } from './maven-kafka.ts'

const READY_MS_MAX = 10_000

/** Starts librdkafka's mock cluster through `kcat`. Returns null without `kcat`. */
async function startMockCluster(): Promise<KafkaProcess | null> {
  if (!(await answers('kcat', '-V'))) return null
  // kcat runs until its standard input is closed. Debug output contains the cluster's addresses.
  const options = ['-X', 'test.mock.num.brokers=3', '-d', 'mock']
  const child = spawn('kcat', ['-P', '-b', 'mock:1', '-t', 'any', ...options], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (output.length < 100_000) output += chunk.toString()
  })
  const onExit = (): void => void child.kill('SIGKILL')
  process.on('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    child.kill('SIGKILL')
  }
  const giveUpAt = performance.now() + READY_MS_MAX
  for (;;) {
    const found = /bootstrap\.servers=([\d.:,]+)/.exec(output)?.[1]?.split(',')
    if (found !== undefined) {
      const refuse = async (): Promise<void> => {
        throw new Error('a mock cluster is gone once it is killed')
      }
      return { brokers: found, kill: refuse, restart: refuse, stop }
    }
    if (performance.now() > giveUpAt) break
    await delay(20)
  }
  await stop()
  return null
}

/** Starts a Kafka node in Docker. Returns null without Docker. */
async function startKafkaContainer(): Promise<KafkaProcess | null> {
  const runtime = await getContainerRuntimeClient().catch(() => null)
  if (runtime === null) return null
  // The broker announces its address to clients, so the port must be known before the start.
  const port = await freePort()
  const container = await new GenericContainer(`apache/kafka:${KAFKA_VERSION}`)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '100',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start()
  const docker = runtime.container.getById(container.getId())
  return {
    brokers: [`127.0.0.1:${port}`],
    kill: async () => {
      await docker.kill()
    },
    restart: async () => {
      const { State } = await docker.inspect()
      if (State.Running) await docker.kill()
      await container.restart()
    },
    stop: async () => {
      await container.stop()
    },
  }
}

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
