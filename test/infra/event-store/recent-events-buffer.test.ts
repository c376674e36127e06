import { describe, expect, it } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import { createRecentEvents } from '#infra/event-store/recent-events-buffer.ts'
import { newEvent } from './conformance.ts'

const at = (position: number): Recorded => ({
  ...{ ...newEvent(), stream: `account-${position}`, revision: 0, position },
})
const page = (positions: readonly number[], position: number) => ({
  ...{ events: positions.map(at), lengths: positions.map(() => 2), position },
})
const request = { limit: 10, isWanted: null, streamPrefixes: null }

describe('the recent events in memory', () => {
  it('contain no page in which an event is missing, because later positions would be wrong', () => {
    const recent = createRecentEvents()
    recent.keep(null)
    recent.keep(() => true)
    recent.addRead(0, page([1, 2], 2))
    // The event 4 is missing in the store, once within a page and once at the end of a page.
    recent.addRead(2, page([3, 5], 5))
    recent.addRead(2, page([3], 4))
    expect(recent.read({ ...request, after: 2 })).toBeNull()
    expect(recent.read({ ...request, after: 0 })?.position).toBe(2)
    recent.addRead(2, page([3, 4], 4))
    const read = recent.read({ ...request, after: 2 })
    expect(read?.events.map(({ position }) => position)).toEqual([3, 4])
  })
})
