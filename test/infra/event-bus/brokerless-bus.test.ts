import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDirectBus } from '#infra/event-bus/brokerless-bus.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { EventBus, LaneWork } from '#infra/event-bus/port.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createLeases } from '#infra/leases/exclusive-leases.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { newEvent, to } from '../event-store/conformance.ts'
import { eventBusConformance } from './conformance.ts'

const log = pino({ level: 'silent' })
const TTL_MS = 500

let pg: Pool
let store: EventStore
let drop: () => Promise<void>
const buses: EventBus[] = []

beforeEach(async () => {
  const database = await testDatabase()
  pg = new Pool({ connectionString: database.url, max: 10 })
  store = createMemoryEventStore()
  drop = async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()))
    await store.close()
    await pg.end()
    await database.drop()
  }
})
afterEach(() => drop())

type Worker = {
  readonly lanes: Set<number>
  readonly work: LaneWork
  readonly bus: EventBus
}

/** Starts a worker with separate leases and a separate bus, as another process would have. */
async function process(name = 'fold'): Promise<Worker> {
  const bus = createDirectBus({ store, leases: await createLeases(pg, log), log, ttlMs: TTL_MS })
  buses.push(bus)
  const lanes = new Set<number>()
  const work = bus.work(name, {
    onGained: async (gained) => {
      for (const lane of gained) lanes.add(lane)
    },
    onLost: (lost) => {
      for (const lane of lost) lanes.delete(lane)
    },
    onBatch: async () => {},
  })
  return { lanes, work, bus }
}

const sizes = (workers: readonly Worker[]): number[] => workers.map(({ lanes }) => lanes.size)

const areDivided = (workers: readonly Worker[]): boolean => {
  const all = workers.flatMap(({ lanes }) => [...lanes])
  return all.length === ALL_LANES.length && new Set(all).size === ALL_LANES.length
}

describe('the direct bus', () => {
  eventBusConformance((parts) => createDirectBus({ ...parts, ttlMs: TTL_MS }))

  it('reports to a watcher the events that are committed while the watch starts', async () => {
    const slow: EventStore = {
      ...store,
      headPosition: async () => {
        await store.append([to('account-1', 'any', [newEvent({ index: 1 })])])
        return store.headPosition()
      },
    }
    const bus = createDirectBus({ store: slow, leases: await createLeases(pg, log), log })
    buses.push(bus)
    const reported = new Promise<number>((resolve) => bus.watch(resolve))
    expect(await reported).toBe(1)
  })
})

describe('the lanes of the direct bus', () => {
  it('all belong to one process at once when it is the only process', async () => {
    const one = await process()
    await expect.poll(() => sizes([one]), { interval: 5, timeout: 400 }).toEqual([8])
  })

  it('are divided evenly as processes come and go, each lane to one process', async () => {
    const one = await process()
    await expect.poll(() => sizes([one])).toEqual([8])
    const two = await process()
    await expect.poll(() => sizes([one, two])).toEqual([4, 4])
    const three = await process()
    await expect.poll(() => sizes([one, two, three])).toEqual([3, 3, 2])
    expect(areDivided([one, two, three])).toBe(true)
    await one.work.stop()
    await expect.poll(() => sizes([two, three])).toEqual([4, 4])
    await two.work.stop()
    await expect.poll(() => sizes([three])).toEqual([8])
  })

  it('go to eight of ten processes, and to the ninth when one of the eight stops', async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, () => process()))
    await expect.poll(() => sizes(ten).toSorted().join('')).toBe('0011111111')
    expect(areDivided(ten)).toBe(true)
    const stopped = ten.find(({ lanes }) => lanes.size === 1) as Worker
    await stopped.work.stop()
    const rest = ten.filter((worker) => worker !== stopped)
    await expect.poll(() => sizes(rest).toSorted().join('')).toBe('011111111')
  })

  it('move away from a process that is frozen, and the writes of that process fail', async () => {
    const one = await process()
    await expect.poll(() => sizes([one])).toEqual([8])
    const client = await pg.connect()
    try {
      expect(await one.work.isStillMine(client, [0, 7])).toBe(true)
      await pg.query(`update leases.leases set expires_at = 'epoch', owner = 'a dead one'`)
      const two = await process()
      await expect.poll(() => two.lanes.size).toBeGreaterThan(0)
      const lost = [...two.lanes]
      expect(await one.work.isStillMine(client, lost)).toBe(false)
      expect(await two.work.isStillMine(client, lost)).toBe(true)
      await expect.poll(() => sizes([one, two]).toSorted()).toEqual([4, 4])
      expect(areDivided([one, two])).toBe(true)
    } finally {
      client.release()
    }
  })

  it('are divided separately for each named subscription', async () => {
    const [fold, other] = [await process('fold'), await process('other')]
    await expect.poll(() => sizes([fold, other])).toEqual([8, 8])
    await delay(TTL_MS)
    expect(sizes([fold, other])).toEqual([8, 8])
  })
})
