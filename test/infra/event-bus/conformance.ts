import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient } from 'pg'
import { type Logger, pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { EventBus, LaneBatch } from '#infra/event-bus/port.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createLeases, type Leases } from '#infra/leases/exclusive-leases.ts'
import { surviveLostConnections } from '#infra/postgres/pools.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { newEvent, to } from '../event-store/conformance.ts'
import {
  applied,
  createRecordTables,
  foldOf,
  lowestCheckpoint,
  type RecordingWorker,
  startRecording,
} from './recording-worker.ts'

/** Each process has separate `leases`, because each process is a separate owner of leases. */
export type BusDeps = {
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
}

export type BusFixture = {
  /** The URL of the test database. */
  readonly url: string
  readonly pg: Pool
  readonly store: EventStore
  /** The event store of a second process on the same database. */
  readonly otherStore: EventStore
  /** Opens a bus, as a separate process would. */
  readonly openBus: () => Promise<EventBus>
  readonly close: () => Promise<void>
}

export type CreateBus = (parts: BusDeps) => Promise<EventBus> | EventBus

/** Creates a database with an event store. `createBus` creates the buses on this database. */
export async function openBusFixture(createBus: CreateBus): Promise<BusFixture> {
  const log = pino({ level: 'silent' })
  const database = await testDatabase()
  const pg = new Pool({ connectionString: database.url, max: 30 })
  // A connection that is still closing when the database is dropped emits an error, which is
  // ignored.
  surviveLostConnections(pg, () => {})
  const open = () => createPostgresEventStore({ connectionString: database.url, log })
  const [store, otherStore] = [await open(), await open()]
  await createRecordTables(pg)
  const buses: EventBus[] = []
  return {
    ...{ url: database.url, pg, store, otherStore },
    openBus: async () => {
      const bus = await createBus({ store, leases: await createLeases(pg, log), log })
      buses.push(bus)
      return bus
    },
    close: async () => {
      await Promise.all(buses.map((bus) => bus.close()))
      await Promise.all([store.close(), otherStore.close()])
      await pg.end()
      await database.drop()
    },
  }
}

/**
 * Appends `count` events to streams of all lanes, with up to 100 appends at the same time.
 */
export async function appendSome(store: EventStore, count: number, streams = 40): Promise<void> {
  const append = async (index: number): Promise<void> => {
    await store.append([to(`account-${index % streams}`, 'any', [newEvent({ index })])])
  }
  for (let done = 0; done < count; done += 100) {
    const size = Math.min(100, count - done)
    await Promise.all(Array.from({ length: size }, (_, index) => append(done + index)))
  }
}

/**
 * Waits until the workers of this name have processed all events. Expects that they wrote every
 * event once, and in order within each lane.
 */
export async function expectFold({ pg, store }: BusFixture, name: string): Promise<void> {
  const head = await store.headPosition()
  await expect.poll(() => lowestCheckpoint(pg, name)).toBeGreaterThanOrEqual(head)
  expect(await applied(pg, name)).toEqual(await foldOf(store))
}

const sorted = (lanes: Iterable<number>): number[] => [...lanes].sort((a, b) => a - b)

/**
 * Returns the lanes of all workers in ascending order. Each lane occurs once if the lanes are
 * divided correctly.
 */
export const lanesOf = (workers: readonly RecordingWorker[]): number[] =>
  sorted(workers.flatMap(({ lanes }) => [...lanes]))

/**
 * Defines the tests that every event bus must pass. `createBus` is called once per simulated
 * process. These processes use one database and one `store`, and separate `leases`. The suite
 * closes all buses.
 */
export function eventBusConformance(createBus: CreateBus): void {
  let fixture: BusFixture
  beforeAll(async () => {
    fixture = await openBusFixture(createBus)
  })
  afterAll(() => fixture.close())
  const parts = () => ({ pg: fixture.pg, store: fixture.store, name: `work-${randomUUID()}` })

  describe('a worker', () => {
    it('gets what was there before it and what comes, once and in order per lane', async () => {
      await appendSome(fixture.store, 300)
      const bus = await fixture.openBus()
      const mine = parts()
      const worker = startRecording({ ...mine, bus })
      await appendSome(fixture.store, 700)
      await expectFold(fixture, mine.name)
      expect(sorted(worker.lanes)).toEqual(ALL_LANES)
      await appendSome(fixture.otherStore, 50)
      await expectFold(fixture, mine.name)
      await bus.close()
    })

    it('learns in lanes where nothing happens how far they are complete', async () => {
      const bus = await fixture.openBus()
      const mine = parts()
      startRecording({ ...mine, bus })
      await expectFold(fixture, mine.name)
      await appendSome(fixture.store, 5, 1)
      await expectFold(fixture, mine.name)
      await bus.close()
    })

    it('that fails at a batch gets it again', async () => {
      const bus = await fixture.openBus()
      const mine = parts()
      let failures = 0
      const beforeWrite = ({ events }: LaneBatch): void => {
        if (events.length === 0 || failures >= 6) return
        failures += 1
        throw new Error('not now')
      }
      startRecording({ ...mine, bus, beforeWrite })
      await expectFold(fixture, mine.name)
      await appendSome(fixture.store, 200)
      await expectFold(fixture, mine.name)
      expect(failures).toBe(6)
      await bus.close()
    })

    it('that was stopped gets nothing more, and goes on where it was', async () => {
      const bus = await fixture.openBus()
      const mine = parts()
      const first = startRecording({ ...mine, bus })
      await expectFold(fixture, mine.name)
      await first.stop()
      const { came } = first.batches
      await appendSome(fixture.store, 100)
      expect(first.batches.came).toBe(came)
      startRecording({ ...mine, bus })
      await expectFold(fixture, mine.name)
      await bus.close()
    })
  })

  describe('several processes', () => {
    it('divide the lanes, and take over those of one that leaves', async () => {
      const buses = [await fixture.openBus(), await fixture.openBus()] as const
      const mine = parts()
      const one = startRecording({ ...mine, bus: buses[0] })
      const two = startRecording({ ...mine, bus: buses[1] })
      await expect.poll(() => lanesOf([one, two]), { timeout: 25_000 }).toEqual(ALL_LANES)
      await expect
        .poll(() => [one.lanes.size > 0, two.lanes.size > 0], { timeout: 25_000 })
        .toEqual([true, true])
      await appendSome(fixture.store, 300)
      await expectFold(fixture, mine.name)
      await buses[0].close()
      await appendSome(fixture.store, 300)
      await expect.poll(() => sorted(two.lanes), { timeout: 25_000 }).toEqual(ALL_LANES)
      await expectFold(fixture, mine.name)
      await buses[1].close()
    })

    it('lose and repeat nothing while others join and leave all the time', async () => {
      const mine = parts()
      const steady = [await fixture.openBus(), await fixture.openBus()]
      for (const bus of steady) startRecording({ ...mine, bus })
      let isStorming = true
      const appending = (async () => {
        while (isStorming) {
          await appendSome(fixture.store, 20)
          await delay(20)
        }
      })()
      for (let round = 0; round < 3; round += 1) {
        const bus = await fixture.openBus()
        startRecording({ ...mine, bus })
        await delay(2_000)
        await bus.close()
        await delay(1_000)
      }
      isStorming = false
      await appending
      await expectFold(fixture, mine.name)
      await Promise.all(steady.map((bus) => bus.close()))
    })

    it('detect in their transaction that another process has taken over a lane', async () => {
      const bus = await fixture.openBus()
      const mine = parts()
      const worker = startRecording({ ...mine, bus })
      await expect.poll(() => sorted(worker.lanes), { timeout: 25_000 }).toEqual(ALL_LANES)
      const isMine = (client: PoolClient) => worker.work.isStillMine(client, ALL_LANES)
      await inTransaction(fixture.pg, async (client) => {
        expect(await isMine(client)).toBe(true)
        await client.query(
          `update leases.leases set owner = 'another', fence = fence + 1,
             expires_at = clock_timestamp() + interval '1 hour'`,
        )
        expect(await isMine(client)).toBe(false)
      })
      await inTransaction(fixture.pg, async (client) => expect(await isMine(client)).toBe(true))
      await worker.stop()
      await inTransaction(fixture.pg, async (client) => expect(await isMine(client)).toBe(false))
      await bus.close()
    })
  })

  describe('a watcher', () => {
    it('hears of what any process commits, until it stops', async () => {
      const bus = await fixture.openBus()
      let heard = 0
      const watching = bus.watch((position) => {
        heard = Math.max(heard, position)
      })
      for (const store of [fixture.store, fixture.otherStore]) {
        await appendSome(store, 3)
        const head = await store.headPosition()
        await expect.poll(() => heard).toBeGreaterThanOrEqual(head)
      }
      await watching.stop()
      const before = heard
      await appendSome(fixture.store, 3)
      const head = await fixture.store.headPosition()
      let heardLater = 0
      const second = bus.watch((position) => {
        heardLater = Math.max(heardLater, position)
      })
      await appendSome(fixture.store, 3)
      await expect.poll(() => heardLater).toBeGreaterThan(head)
      await second.stop()
      expect(heard).toBe(before)
      await bus.close()
    })
  })
}

/** Runs `work` in a transaction and rolls it back. */
async function inTransaction(pg: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pg.connect()
  try {
    await client.query('begin')
    await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}
