import { expect, it } from 'vitest'
import { randomUuid, timedUuid } from '#infra/random-uuids.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('ids of events are different UUIDs v4, also when the random bytes are fetched again', () => {
  const ids = Array.from({ length: 10_000 }, randomUuid)
  expect(ids.filter((id) => !UUID_V4.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

it('ids of calls are different UUIDs v7 that begin with the time', () => {
  const now = Date.UTC(2026, 10, 30, 2, 15)
  const time = now.toString(16).padStart(12, '0')
  const uuidV7 = new RegExp(
    `^${time.slice(0, 8)}-${time.slice(8)}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
  )
  const ids = Array.from({ length: 10_000 }, () => timedUuid(now))
  expect(ids.filter((id) => !uuidV7.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  expect(timedUuid(now) < timedUuid(now + 1)).toBe(true)
})
