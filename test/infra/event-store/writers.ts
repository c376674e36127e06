import { expect } from 'vitest'
import type { EventStore } from '#infra/event-store/port.ts'
import { newEvent, newStream, to } from './conformance.ts'

/** Writers of a stream each, one event after the other, until they are ended. */
export function startWriters(store: EventStore, count: number, pollMs?: number) {
  let isOver = false
  let acknowledged = 0
  const write = async (): Promise<string[]> => {
    const ids: string[] = []
    const stream = newStream()
    for (let revision = -1; !isOver; revision += 1) {
      const event = newEvent({ revision })
      await store.append([to(stream, revision < 0 ? 'none' : revision, [event])])
      ids.push(event.id)
      acknowledged += 1
    }
    return ids
  }
  const writers = Array.from({ length: count }, write)
  const options = pollMs === undefined ? {} : { timeout: pollMs }
  return {
    /** Until so many more were acknowledged. */
    untilMore: async (more: number): Promise<void> => {
      const before = acknowledged
      await expect.poll(() => acknowledged, options).toBeGreaterThanOrEqual(before + more)
    },
    /** The ids of all events that were acknowledged. */
    end: async (): Promise<string[]> => {
      isOver = true
      return (await Promise.all(writers)).flat()
    },
  }
}
