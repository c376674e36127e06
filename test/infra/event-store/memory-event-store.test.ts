import { describe } from 'vitest'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import { densePositions, eventStoreConformance } from './conformance.ts'

describe('the event store in memory', () => {
  const open = async () => {
    const store = createMemoryEventStore()
    return { store, close: () => store.close() }
  }
  eventStoreConformance(open)
  densePositions(open)
})
