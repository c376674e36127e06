import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import { afterAll, beforeAll, describe } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { eventStoreConformance } from './conformance.ts'

const IMAGE = 'eventstore/eventstore:23.10.1-bookworm-slim'
const PORT = 2113

type ServerContainer = { readonly url: string; readonly stop: () => Promise<void> }

const hasDocker: boolean = await getContainerRuntimeClient().then(
  () => true,
  () => false,
)

async function startServerContainer(): Promise<ServerContainer> {
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts(PORT)
    .withEnvironment({ EVENTSTORE_INSECURE: 'true', EVENTSTORE_RUN_PROJECTIONS: 'None' })
    .withWaitStrategy(Wait.forHttp('/health/live', PORT).forStatusCode(204))
    .start()
  return {
    url: `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`,
    stop: async () => {
      await container.stop()
    },
  }
}

const log = pino({ level: 'silent' })
const skipped = hasDocker ? '' : ' (skipped: no Docker engine answers here)'

describe.skipIf(!hasDocker)(`the event store on the real EventStoreDB server${skipped}`, () => {
  let server: ServerContainer
  beforeAll(async () => {
    server = await startServerContainer()
  }, 300_000)
  afterAll(() => server.stop())

  eventStoreConformance(async () => {
    const url = `${server.url}&connectionName=${randomUUID()}`
    const store = await createEventStoreDbStore({ url, locks: createMemoryLocks(), log })
    return { store, close: () => store.close() }
  })
})
