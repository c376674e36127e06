import type { EventStore } from '../../event-store/port.ts'

/**
 * Which history of events positions belong to: its first event and that one's position. A topic
 * written from another event store means nothing here, though its positions look alike. Answers
 * null while there are no events.
 */
export function createHistory(store: Pick<EventStore, 'readAll'>): () => Promise<string | null> {
  let known: string | null = null
  return async () => {
    if (known !== null) return known
    const [first] = await store.readAll(0, 1)
    if (first !== undefined) known = `${first.id}@${first.position}`
    return known
  }
}
