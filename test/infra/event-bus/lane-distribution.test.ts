import { pino } from 'pino'
import { expect, it } from 'vitest'
import { balanceLanes } from '#infra/event-bus/distribute-lanes.ts'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { type Lease, type Leases, ONLY_PROCESS_TTL_MS } from '#infra/leases/exclusive-leases.ts'

/** The leases of the only process, which are always free. */
const leaseOf = (name: string): Lease => ({ name, fence: 1 })
const LEASES: Leases = {
  hold: () => ({ stop: async () => {} }),
  acquire: async (name) => leaseOf(name),
  release: async () => {},
  acquireAll: async (names) => names.map(leaseOf),
  holders: async () => new Map(),
  owner: 'the only process',
}

it('a process with its own Postgres gets its lanes soon after a failure', async () => {
  const held = new Map<number, Lease>()
  let attempts = 0
  const onGained = async (): Promise<void> => {
    attempts += 1
    if (attempts === 1) throw new Error('the database is busy')
  }
  const deps = { leases: LEASES, log: pino({ enabled: false }), ttlMs: ONLY_PROCESS_TTL_MS }
  const balancer = balanceLanes(deps, 'test', { held, onGained, onLost: () => {} })
  try {
    // The pause must not grow with the lease time, of which a 25th is 24 s.
    await expect.poll(() => attempts, { timeout: 12_000 }).toBe(2)
    await expect.poll(() => held.size).toBe(LANE_COUNT)
  } finally {
    await balancer.stop()
  }
})
