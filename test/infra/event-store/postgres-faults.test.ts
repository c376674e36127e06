import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { type EventStore, StoreUnavailable } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { spawnNode } from '#test/support/child-process.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { budget } from '#test/support/time-limit.ts'
import { newStream, to } from './conformance.ts'
import { startDroppingProxy } from './dropping-proxy.ts'
import { startWriters } from './start-writers.ts'

/** Counts failed flushes with an unknown outcome. */
function countingLog() {
  const seen = { errors: 0 }
  const write = (line: string): void => {
    if (line.includes('will be retried')) seen.errors += 1
  }
  return { log: pino({ level: 'debug' }, { write }), seen }
}

async function everyEvent(store: EventStore): Promise<{ ids: string[]; positions: number[] }> {
  const ids: string[] = []
  const positions: number[] = []
  for (;;) {
    const events = await store.readAll(positions.at(-1) ?? 0, 1_000)
    if (events.length === 0) return { ids, positions }
    ids.push(...events.map(({ id }) => id))
    positions.push(...events.map(({ position }) => position))
  }
}

const dense = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('an append whose reply is lost', () => {
  it('is recognised when it is tried again, and is written once', async () => {
    const database = await testDatabase()
    const proxy = await startDroppingProxy(database.url)
    const { log, seen } = countingLog()
    const store = await createPostgresEventStore({ connectionString: proxy.url, log })
    const ids: string[] = []
    for (let i = 0; i < 20; i += 1) {
      const appends = Array.from({ length: 5 }, () => [to(newStream(), 'none'), to('hot', 'any')])
      ids.push(...appends.flat().flatMap(({ events }) => events.map(({ id }) => id)))
      proxy.dropNextReply()
      await Promise.all(appends.map((streams) => store.append(streams)))
    }
    const all = await everyEvent(store)
    expect(all.ids.sort()).toEqual(ids.sort())
    expect(all.positions).toEqual(dense(200))
    expect(proxy.dropped()).toBe(20)
    expect(seen.errors).toBeGreaterThanOrEqual(10)
    await store.close()
    await proxy.close()
    await database.drop()
  })

  it('fails at its deadline if the store stays unavailable', async () => {
    const database = await testDatabase()
    const proxy = await startDroppingProxy(database.url)
    const { log } = countingLog()
    const options = { connectionString: proxy.url, log, deadlineMs: 2_000 }
    const store = await createPostgresEventStore(options)
    await store.append([to('a', 'none')])
    await proxy.close()
    const begin = performance.now()
    const lost = await store.append([to('a', 0)]).catch((error) => error)
    expect(lost).toBeInstanceOf(StoreUnavailable)
    expect(performance.now() - begin).toBeGreaterThanOrEqual(2_000)
    expect(performance.now() - begin).toBeLessThan(budget(5_000))
    await expect(store.readStream('a')).rejects.toThrow(StoreUnavailable)
    await store.close()
    await database.drop()
  })
})

describe('a process whose notifications are lost without an error', () => {
  it('tells all its subscriptions of the events that one of them finds', async () => {
    const database = await testDatabase()
    const proxy = await startDroppingProxy(database.url)
    const { log } = countingLog()
    const store = await createPostgresEventStore({ connectionString: proxy.url, log })
    const writer = await createPostgresEventStore({ connectionString: database.url, log })
    const found = new Map<number, number>()
    const failed: unknown[] = []
    // Half of the subscriptions have a filter, and all of them need several pages.
    const subscriptions = Array.from({ length: 8 }, (_, index) =>
      store.subscribeAll(
        0,
        (events) => void found.set(index, (found.get(index) ?? 0) + events.length),
        (error) => failed.push(error),
        { maxBatch: 5, ...(index % 2 === 0 ? { streamPrefixes: ['account-'] } : {}) },
      ),
    )
    await writer.append([to('account-0', 'none')])
    await vi.waitFor(() => expect([...found.values()]).toEqual(Array(8).fill(1)), 20_000)
    proxy.silenceListeners()
    for (let id = 1; id < 20; id += 1) await writer.append([to(`account-${id}`, 'none')])
    await vi.waitFor(() => expect(Math.max(...found.values())).toBeGreaterThan(1), 20_000)
    // The interval of each subscription's own fallback query is 5 s.
    const all = () => expect([...found.values()]).toEqual(Array(8).fill(20))
    await vi.waitFor(all, budget(2_000))
    expect(failed).toEqual([])
    await Promise.all(subscriptions.map((one) => one.stop()))
    await Promise.all([writer.close(), store.close()])
    await proxy.close()
    await database.drop()
  })
})

describe('kill -9 of Postgres under load', () => {
  it('loses no acknowledged event and repeats none', { timeout: 120_000 }, async () => {
    const kills = 5
    const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-kill-'))
    const { log, seen } = countingLog()
    const embedded = await startEmbeddedPostgres({ dataDir, log })
    const connectionString = embedded.connectionString
    const store = await createPostgresEventStore({ connectionString, log, deadlineMs: 60_000 })
    const { name } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
    const program = fileURLToPath(new URL('./postgres-killer.ts', import.meta.url))
    const killer = spawnNode(program, name, String(kills))
    let killed = 0
    killer.stdout.on('data', (chunk: Buffer) => {
      killed += chunk.toString().split('\n').length - 1
    })
    const writers = startWriters(store, 40)
    await once(killer, 'exit')
    const ids = await writers.end()
    const all = await everyEvent(store)
    expect(killed).toBe(kills)
    expect(seen.errors).toBeGreaterThanOrEqual(kills)
    // Every append was acknowledged in the end, so the stored events must equal the acknowledged
    // events.
    expect(all.ids.sort()).toEqual(ids.sort())
    expect(all.positions).toEqual(dense(ids.length))
    await store.close()
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
})
