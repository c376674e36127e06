import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { streamActorsConformance } from './stream-actors-conformance.ts'

const log = pino({ level: 'silent' })

async function open(): Promise<EventStore> {
  const server = await startEventStoreDbServer()
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  onTestFinished(async () => {
    await store.close()
    await server.stop()
  })
  return store
}

streamActorsConformance(open, { hasTransactions: false })
