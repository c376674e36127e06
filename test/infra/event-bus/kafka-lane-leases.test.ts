import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createLaneLeases } from '#infra/event-bus/kafka/lane-leases.ts'
import type { Lease, Leases } from '#infra/leases/exclusive-leases.ts'

const LANES = [0, 1, 2, 3]

/**
 * Creates leases where a release resolves only when the release of every lane has been requested.
 */
function leasesBackTogether(): Leases {
  const asked: Lease[] = []
  const all = Promise.withResolvers<void>()
  return {
    acquireAll: async (names: readonly string[]) => names.map((name) => ({ name, fence: 1 })),
    release: (lease: Lease) => {
      asked.push(lease)
      if (asked.length === LANES.length) all.resolve()
      return all.promise
    },
  } as Partial<Leases> as Leases
}

it('a stop releases all lanes at once instead of one after the other', async () => {
  const gained = Promise.withResolvers<readonly number[]>()
  const lanes = createLaneLeases({
    ...{ leases: leasesBackTogether(), name: 'group', log: pino({ level: 'silent' }) },
    timings: { laneTtlMs: 10_000, graceMs: 1_000 },
    onGained: gained.resolve,
    onLost: async () => {},
  })
  lanes.assign(LANES)
  expect(await gained.promise).toEqual(LANES)
  await lanes.stop()
  expect(LANES.filter((lane) => lanes.leaseOf(lane) !== undefined)).toEqual([])
})
