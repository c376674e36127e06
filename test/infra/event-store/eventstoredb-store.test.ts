import { pino } from 'pino'
import { describe } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { eventStoreConformance } from './conformance.ts'

const log = pino({ level: process.env.LOG ?? 'silent' })

describe('the event store in EventStoreDB', () => {
  eventStoreConformance(async () => {
    const server = await startEventStoreDbServer()
    const store = await createEventStoreDbStore({
      url: server.url,
      locks: createMemoryLocks(),
      log,
    })
    const close = async (): Promise<void> => {
      await store.close()
      await server.stop()
    }
    return { store, close }
  })
})
