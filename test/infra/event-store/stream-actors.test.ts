import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import { streamActorsConformance } from './stream-actors-conformance.ts'

streamActorsConformance(async () => createMemoryEventStore())
