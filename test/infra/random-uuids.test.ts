import { expect, it } from 'vitest'
import { newEventId } from '#infra/event-store/encoded-append.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('ids of events are different UUIDs v4, also when the random bytes are fetched again', () => {
  const ids = Array.from({ length: 10_000 }, newEventId)
  expect(ids.filter((id) => !UUID_V4.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})
