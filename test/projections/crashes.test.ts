import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { CallFacts } from '#domain/accounts/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createDirectBus } from '#infra/event-bus/brokerless-bus.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createLeases } from '#infra/leases/exclusive-leases.ts'
import { createPools } from '#infra/postgres/pools.ts'
import { createVault } from '#infra/vault/vault.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { createFreshness } from '#projections/read-model-freshness/query.ts'
import { type ProjectionRunner, startProjections } from '#projections/runner/start-projections.ts'
import { killChild, spawnNode } from '#test/support/child-process.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { backendsOf } from '#test/support/suspend-postgres.ts'
import { testCore } from '#test/support/test-core.ts'
import { testDatabase } from '#test/support/test-database.ts'
import {
  aCall,
  admitted,
  appendTo,
  budgetSet,
  channelCreated,
  granted,
  projectionFixture,
  settledCall,
  userCreated,
} from './fixture.ts'
import { accepted, aDrawing, aSong, begun, failed, submitted, succeeded } from './task-facts.ts'

const fixture = startedForEach(projectionFixture)

const someCalls = () =>
  Array.from({ length: 5 }, (_, i) => {
    const call = aCall({ userId: 1 + (i % 3), tokenId: 1 + (i % 3) })
    return [admitted(call), settledCall(call, i), ...aTaskOf(call)]
  }).flat()

/** A song that ends, or a drawing that is still in progress. */
const aTaskOf = ({ call, userId }: CallFacts) => {
  const [song, drawing] = [aSong(call, userId), aDrawing(call, userId)]
  if (userId === 1) return [submitted(song), accepted(song), begun(song), succeeded(song)]
  if (userId === 2) return [submitted(song), failed(song, { channelId: null })]
  return [submitted(drawing), accepted(drawing), begun(drawing)]
}

const unequal = async (runner: ProjectionRunner): Promise<unknown[]> =>
  (await runner.verify()).filter(({ isEqual }) => !isEqual)

describe('read models after faults', () => {
  it('the read models equal the fold after 50 crashes before the commit', async () => {
    await fixture.append([budgetSet(1, 1, 9_000), channelCreated(1, 'simulated')])
    for (let death = 0; death < 50; death += 1) {
      const died = Promise.withResolvers<void>()
      let commits = 0
      const runner = await startProjections(fixture.core, {
        beforeCommit: () => {
          commits += 1
          if (commits <= death % 3) return
          died.resolve()
          throw Object.assign(new Error('killed'), { code: '57P01' })
        },
      })
      await moreUntil(died.promise)
      await runner.stop()
    }
    const runner = await startProjections(fixture.core)
    await fixture.settled(await fixture.core.store.headPosition())
    expect(await unequal(runner)).toEqual([])
    await runner.stop()
  })

  it('the read models equal the fold while Postgres connections are cut repeatedly', async () => {
    const runner = await startProjections(fixture.core)
    const killer = new Client({ connectionString: fixture.url })
    await killer.connect()
    let cut = 0
    for (let i = 0; i < 30; i += 1) {
      await fixture.settled(await fixture.append(someCalls()))
      for (let k = 0; k < 4; k += 1) await fixture.append(someCalls())
      const { rowCount } = await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      cut += rowCount ?? 0
    }
    await killer.end()
    await fixture.settled(await fixture.core.store.headPosition())
    expect(cut).toBeGreaterThan(10)
    expect(runner.isHealthy()).toBe(true)
    // On a busy machine, the pool may not know yet that a connection was cut.
    await expect.poll(() => unequal(runner)).toEqual([])
    await runner.stop()
  })

  it('the read models equal the fold after Postgres stalls before a commit', async () => {
    let said = ''
    let onCommit = (): void => {}
    const write = (line: string): void => {
      said += line
    }
    const runner = await startProjections(
      { ...fixture.core, log: pino({}, { write }) },
      { withinMs: 500, beforeCommit: () => onCommit() },
    )
    await fixture.settled(await fixture.append(someCalls()))
    const { freeze, thaw } = await backendsOf(fixture.url)
    said = ''
    onCommit = () => {
      onCommit = () => {}
      freeze()
    }
    const position = await fixture.append(someCalls())
    await expect.poll(() => said).toMatch(/no answer within.*read models wait for the database/)
    thaw()
    await fixture.settled(position)
    expect(runner.isHealthy()).toBe(true)
    expect(await unequal(runner)).toEqual([])
    await runner.stop()
  })
})

/**
 * Appends events until the projections have died. Between the appends, they have time to commit.
 * Otherwise, they would fold many more events than the crashes need.
 */
async function moreUntil(died: Promise<void>): Promise<void> {
  let isDead = false
  const dead = died.then(() => {
    isDead = true
  })
  while (!isDead) {
    await fixture.append(someCalls())
    await Promise.race([dead, delay(50)])
  }
}

async function realCore(url: string): Promise<{ core: Core; close: () => Promise<void> }> {
  const pools = await createPools(url)
  const store = await createPostgresEventStore({ connectionString: url, log: fixture.core.log })
  const { log } = fixture.core
  const leases = await createLeases(pools.pg, log)
  const bus = createDirectBus({ store, leases, log })
  const vault = await createVault({ pg: pools.pg, secretKey: randomBytes(32) })
  return {
    core: { ...fixture.core, ...pools, store, vault, leases, bus },
    close: async () => {
      await bus.close()
      await store.close()
      await pools.close()
    },
  }
}

describe('projections on the real event store and vault', () => {
  it('the projections decrypt names and miss no event while writers race', async () => {
    const { url, drop } = await testDatabase()
    const { core, close } = await realCore(url)
    const runner = await startProjections(core)
    const freshness = createFreshness(core)
    const name = await core.vault.seal(1, 'alice')
    const user = userCreated(1, 'x')
    const data = { ...user.data, username: name, displayName: name }
    await appendTo(core.store, [{ ...user, data }, granted(1, 1_000_000)])
    const ip = await core.vault.seal(1, '203.0.113.9')
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let i = 0; i < 40; i += 1) {
          const call = aCall({ userId: 10 + writer })
          const end = settledCall(call, i)
          await appendTo(core.store, [
            admitted(call),
            { ...end, data: { ...end.data, clientIp: ip } },
          ])
        }
      }),
    )
    const head = await core.store.headPosition()
    expect(await freshness.waitFor(PROJECTION_NAMES, head, 20_000)).toBe(true)
    const { rows } = await core.pg.query('select username from read_users.users')
    expect(rows).toEqual([{ username: 'alice' }])
    const logged = await core.pg.query(`select count(*)::int as n from read_call_log.log`)
    expect(logged.rows).toEqual([{ n: 241 }])
    expect(await unequal(runner)).toEqual([])
    await freshness.stop()
    await runner.stop()
    await close()
    await drop()
  })
})

describe('a rebuild whose process is killed', () => {
  it('the live read models are unharmed after kills in any phase, and can be rebuilt', async () => {
    const { core, close } = await testCore()
    const runner = await startProjections(core)
    for (let i = 0; i < 120; i += 1) await appendTo(core.store, [...someCalls(), granted(1, 5)])
    const { databaseUrl, secretKey } = core.config
    const key = Buffer.from(secretKey ?? '').toString('base64')
    for (const lines of [1, 2, 3, 4, 6]) {
      const child = spawnNode('test/projections/rebuilding-process.ts', databaseUrl ?? '', key)
      let printed = 0
      for await (const chunk of child.stdout) {
        printed += String(chunk).split('\n').length - 1
        if (printed >= lines) break
      }
      await killChild(child)
      await appendTo(core.store, [granted(2, 7)])
    }
    const head = await core.store.headPosition()
    const reached = () =>
      runner.health().filter(({ lanes, position }) => lanes === 8 && position >= head).length
    await expect.poll(reached).toBe(PROJECTION_NAMES.length)
    expect(await unequal(runner)).toEqual([])
    await runner.rebuild(PROJECTION_NAMES)
    expect(await unequal(runner)).toEqual([])
    const { rows } = await core.pg.query(
      `select nspname from pg_namespace where nspname ^@ 'read_' and nspname ~ '_(next|check)$'`,
    )
    expect(rows).toEqual([])
    await runner.stop()
    await close()
  })
})
