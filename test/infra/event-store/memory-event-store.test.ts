import { describe } from 'vitest'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import { eventStoreConformance } from './conformance.ts'

describe('the event store in memory', () => {
  eventStoreConformance(async () => {
    const store = createMemoryEventStore()
    return { store, close: () => store.close() }
  })
})
