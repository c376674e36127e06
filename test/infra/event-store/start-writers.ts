import { expect } from 'vitest'
import type { EventStore } from '#infra/event-store/port.ts'
import { newEvent, newStream, to } from './conformance.ts'

/**
 * Starts `count` writers, each of which appends events to a separate stream until `end` is called.
 */
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
    /** Waits until `more` further events were acknowledged. */
    untilMore: async (more: number): Promise<void> => {
      const before = acknowledged
      await expect.poll(() => acknowledged, options).toBeGreaterThanOrEqual(before + more)
    },
    /** Stops the writers and returns the ids of all acknowledged events. */
    end: async (): Promise<string[]> => {
      isOver = true
      return (await Promise.all(writers)).flat()
    },
  }
}
