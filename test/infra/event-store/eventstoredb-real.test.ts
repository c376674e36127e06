import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import {
  hasDocker,
  type ServerContainer,
  startServerContainer,
} from '#test/support/event-store-db/server-container.ts'
import { eventStoreConformance } from './conformance.ts'

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
