import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Core } from '#infra/core-dependencies.ts'
import { createDirectBus } from '#infra/event-bus/brokerless-bus.ts'
import { createMemoryEventStore } from '#infra/event-store/memory-event-store.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { appendTo, type Fixture, granted, projectionFixture, userCreated } from './fixture.ts'

const KEPT = [userCreated(1, 'root', 100), granted(1, 1_000)]
const CUT_OFF = [granted(1, 20), granted(1, 30), granted(1, 40)]

let fixture: Fixture
let site: Core
let logged: { alarm?: string; projection?: string; msg: string }[]
let runner: ProjectionRunner

/** Starts the runner of the site whose history lost its end, and waits for all lanes. */
async function startRunner(): Promise<void> {
  logged = []
  runner = await startProjections(site)
  await expect.poll(() => runner.health().every(({ lanes }) => lanes > 0)).toBe(true)
}

const stopped = () => runner.health().filter(({ state }) => state === 'stopped')
const balance = async () =>
  (await fixture.core.pg.query('select balance from read_balances.accounts')).rows.map((row) =>
    Number(row.balance),
  )

beforeEach(async () => {
  fixture = await projectionFixture()
  const before = await startProjections(fixture.core)
  for (const given of [...KEPT, ...CUT_OFF]) await fixture.append([given])
  await fixture.settled(5)
  await before.stop()
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const store = createMemoryEventStore()
  for (const given of KEPT) await appendTo(store, [given])
  const { leases } = fixture.core
  site = { ...fixture.core, store, log, bus: createDirectBus({ store, leases, log, ttlMs: 2_000 }) }
  await startRunner()
})

afterEach(async () => {
  await runner.stop()
  await site.bus.close()
  await site.store.close()
  await fixture.close()
})

describe('read models that are ahead of the events', () => {
  it('stop, and are named in the log and in the health', () => {
    expect(logged).toContainEqual(
      expect.objectContaining({
        ...{ level: 50, alarm: 'read-models-ahead-of-events', reached: 5, head: 2 },
        msg: expect.stringContaining('have read up to 5, but only 2 events are here'),
      }),
    )
    const alarms = logged.filter(({ alarm }) => alarm === 'projection-stopped')
    expect(new Set(alarms.map(({ projection }) => projection)).size).toBe(PROJECTION_NAMES.length)
    expect(stopped()).toHaveLength(PROJECTION_NAMES.length)
    expect([...new Set(runner.positions().values())]).toEqual([2])
    expect(runner.isHealthy()).toBe(false)
  })

  it('stay stopped after a start that finds new events at the positions', async () => {
    for (const amount of [1, 2, 3, 4]) await appendTo(site.store, [granted(1, amount)])
    await runner.stop()
    await startRunner()
    expect(stopped()).toHaveLength(PROJECTION_NAMES.length)
    expect(await balance()).toEqual([1_090])
  })

  it('skip no event after a rebuild, also if the history is as long as before', async () => {
    for (const amount of [1, 2, 3]) await appendTo(site.store, [granted(1, amount)])
    await runner.rebuild(PROJECTION_NAMES)
    await expect.poll(() => runner.isHealthy()).toBe(true)
    await appendTo(site.store, [granted(1, 4)])
    await expect.poll(balance).toEqual([1_010])
    const results = await runner.verify()
    expect(results.filter(({ isEqual }) => !isEqual)).toEqual([])
    await runner.stop()
    await startRunner()
    expect(logged.filter(({ alarm }) => alarm !== undefined)).toEqual([])
  })

  it('skip no event after a rebuild of a shorter history', async () => {
    await runner.rebuild(PROJECTION_NAMES)
    expect(await balance()).toEqual([1_000])
    await appendTo(site.store, [granted(1, 4)])
    await expect.poll(balance).toEqual([1_004])
  })
})
