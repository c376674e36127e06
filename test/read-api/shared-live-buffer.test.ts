import { expect, it } from 'vitest'
import { LiveBuffer, type LiveItem } from '#read-api/live/shared-live-buffer.ts'

const MIB = 1024 * 1024

const item = (position: number, weight?: number): LiveItem => ({
  ...{ topic: 'tasks', position, ownerId: 1, textFor: () => '' },
  ...(weight === undefined ? {} : { weight }),
})
const positionsIn = (ring: LiveBuffer) => [...ring.after(ring.from)].map(({ position }) => position)

it('the live buffer drops its oldest items beyond 4 096 items or 32 MiB', () => {
  const ring = new LiveBuffer(0)
  ring.extend([item(1), item(2, 20 * MIB), item(3)], 3)
  expect([ring.from, positionsIn(ring)]).toEqual([0, [1, 2, 3]])
  ring.extend([item(4, 20 * MIB)], 5)
  expect([ring.from, ring.upTo, positionsIn(ring)]).toEqual([2, 5, [3, 4]])
  ring.extend([item(6, 40 * MIB)], 6)
  expect([ring.from, ring.upTo, positionsIn(ring)]).toEqual([6, 6, []])
  const many = Array.from({ length: 4_097 }, (_, n) => item(7 + n))
  ring.extend(many, 4_103)
  expect([ring.from, positionsIn(ring).length]).toEqual([7, 4_096])
})

it('a cleared buffer has no items, so that sockets behind it have to read again', () => {
  const ring = new LiveBuffer(0)
  ring.extend([item(1), item(2, 20 * MIB)], 2)
  ring.clear()
  expect([ring.from, ring.upTo, positionsIn(ring)]).toEqual([2, 2, []])
  ring.extend([item(3, 20 * MIB)], 3)
  expect([ring.from, positionsIn(ring)]).toEqual([2, [3]])
})
