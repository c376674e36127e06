import type { EventStore } from '#infra/event-store/port.ts'

/**
 * Returns a store that has no events after `position`. It only reads, so that a scratch copy shows
 * the states, balances and prices of its moment.
 */
export function eventsUntil(store: EventStore, position: number): EventStore {
  const isWithin = (event: { readonly position: number }): boolean => event.position <= position
  const refuse = (): never => {
    throw new Error('a scratch copy only reads events')
  }
  return {
    readStream: async (...query) => (await store.readStream(...query)).filter(isWithin),
    readAll: async (...query) => (await store.readAll(...query)).filter(isWithin),
    headPosition: async () => position,
    append: refuse,
    subscribeAll: refuse,
    close: async () => {},
  }
}
