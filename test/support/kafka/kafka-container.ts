import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import { freePort, type KafkaProcess } from './kafka-process.ts'
import { KAFKA_VERSION } from './maven-kafka.ts'

/** Starts a Kafka node in Docker. Returns null without Docker. */
export async function startKafkaContainer(): Promise<KafkaProcess | null> {
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
