import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { type EventStore, RevisionConflict, StoreUnavailable } from '#infra/event-store/port.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { budget } from '#test/support/time-limit.ts'
import { newEvent, newStream, to } from './conformance.ts'
import { startWriters } from './start-writers.ts'

/** Counts appends with an unknown outcome, and reopened subscriptions. */
function countingLog() {
  const seen = { errors: 0, reopened: 0 }
  const write = (line: string): void => {
    if (line.includes('will be retried')) seen.errors += 1
    if (line.includes('is reopened')) seen.reopened += 1
  }
  return { log: pino({ level: 'debug' }, { write }), seen }
}

type Given = { deadlineMs?: number; replyWithinMs?: number; idleCheckMs?: number }

async function open(options: Given = {}) {
  const server = await startEventStoreDbServer()
  const { log, seen } = countingLog()
  const locks = createMemoryLocks()
  const store = await createEventStoreDbStore({ url: server.url, locks, log, ...options })
  onTestFinished(async () => {
    await store.close()
    await server.stop()
  })
  return { server, store, seen, locks, log }
}

/** Collects every event after `after` until the test ends. */
function follow(store: EventStore, after = 0, slowMs = 0): Recorded[] {
  const events: Recorded[] = []
  const onBatch = async (batch: readonly Recorded[]): Promise<void> => {
    events.push(...batch)
    if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs))
  }
  const subscription = store.subscribeAll(after, onBatch, () => {}, { maxBatch: 20 })
  onTestFinished(() => subscription.stop())
  return events
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

describe('an append whose reply is lost', () => {
  it('is sent again, written once, and answered', async () => {
    const { server, store, seen } = await open({ replyWithinMs: 300 })
    const events = Array.from({ length: 8 }, () => newEvent())
    server.dropReplies(4)
    await Promise.all([
      store.append([to('exact', 'none', events.slice(0, 2))]),
      store.append([to('any', 'any', events.slice(2, 4))]),
      store.append([to('one', 'none', events.slice(4, 6)), to('two', 'any', events.slice(6))]),
    ])
    expect(server.seen().dropped).toBe(4)
    // On a slow machine, a reply that wasn't dropped may come too late, too.
    expect(seen.errors).toBeGreaterThanOrEqual(4)
    const all = await store.readAll(0, 100)
    expect(idsOf(all).sort()).toEqual(idsOf(events).sort())
    expect(server.seen().batchAppends).toBe(0)
  })

  it('is recognised by its events in the stream if the server reports a conflict', async () => {
    const { server, store } = await open({ replyWithinMs: 200 })
    server.log.forgetRepeats()
    const given = [to('a', 'none', [newEvent(), newEvent()])]
    server.dropReplies(1)
    const first = await store.append(given)
    server.dropReplies(1)
    await store.append([to('a', 'any')])
    expect((await store.append(given)).position).toBe(first.position)
    expect(await store.readAll(0, 10)).toHaveLength(3)
  })

  it('can be repeated by its caller, and gets the first answer', async () => {
    const { store } = await open()
    const given = [to(newStream(), 'none', [newEvent(), newEvent()])]
    const first = await store.append(given)
    await store.append([to('another', 'none')])
    expect((await store.append(given)).position).toBe(first.position)
    expect(await store.readAll(0, 10)).toHaveLength(3)
  })
})

describe('another writer that writes first', () => {
  it('causes a conflict for an exact revision, and no conflict for any revision', async () => {
    const { server, store } = await open()
    await store.append([to('a', 'none')])
    server.forceConflicts(1)
    const conflict = await store.append([to('a', 0)]).catch((error) => error)
    expect(conflict).toBeInstanceOf(RevisionConflict)
    expect(conflict.actual).toBe(1)
    server.forceConflicts(3)
    const done = await store.append([to('a', 'any')])
    expect(done.streams[0]?.revision).toBe(5)
  })

  it('does not stop commands on an account or reads of it', async () => {
    const { server, store, log } = await open()
    const openActors = () => {
      return createStreamActors({ store, snapshots: createMemorySnapshots(), log })
    }
    const [actors, stream] = [openActors(), accountStream(7)]
    const context = { actor: 'system:test', cause: null, at: 1 }
    for (const grantId of ['one', 'two']) {
      server.forceConflicts(2, stream)
      const grant = { type: 'GrantQuota', userId: 7, grantId, amount: 5n, reason: 'admin' } as const
      await actors.handle(accountDecider, stream, grant, context)
    }
    expect(await store.readStream(stream)).toHaveLength(6)
    for (const each of [actors, openActors()]) {
      expect((await each.stateOf(accountDecider, stream)).balance).toBe(10n)
    }
  })

  it('makes a joint append fail at its first stream, or precedes it in the others', async () => {
    const { server, store } = await open()
    server.forceConflicts(1)
    await expect(store.append([to('a', 'none'), to('b', 'none')])).rejects.toThrow(RevisionConflict)
    expect(await store.readStream('b')).toEqual([])
    await store.append([to('c', 'none')])
    const two = newEvent()
    server.forceConflicts(1, 'c')
    const { streams } = await store.append([to('d', 'none'), to('c', 0, [two])])
    expect(streams.map(({ revision }) => revision)).toEqual([0, 2])
    expect(idsOf(await store.readStream('c', 2))).toEqual([two.id])
  })
})

describe('a subscription', () => {
  it('has no gap and no repeat although its connection is cut again and again', async () => {
    const { server, store, seen } = await open()
    const events = follow(store)
    const ids: string[] = []
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          const event = newEvent()
          await store.append([to(newStream(), 'none', [event])])
          ids.push(event.id)
        }),
      )
      await expect.poll(() => server.cutStreams()).toBe(1)
      await expect.poll(() => seen.reopened).toBeGreaterThan(round)
    }
    await expect.poll(() => events.length).toBe(ids.length)
    expect(idsOf(events).sort()).toEqual(ids.sort())
    expect(events).toEqual(await store.readAll(0, 1_000))
  })

  it('is opened again if it receives nothing', async () => {
    const { server, store, seen } = await open({ idleCheckMs: 50 })
    const events = follow(store)
    await store.append([to('a', 'any')])
    await expect.poll(() => events.length).toBe(1)
    server.muteStreams()
    for (let i = 0; i < 10; i += 1) await store.append([to('a', 'any')])
    await expect.poll(() => events.length).toBe(11)
    expect(seen.reopened).toBe(1)
    expect(events).toEqual(await store.readAll(0, 100))
  })

  it('holds few events for a slow consumer, and skips none', async () => {
    const { store } = await open()
    const large = { text: 'x'.repeat(2_000) }
    for (let i = 0; i < 10; i += 1) {
      const events = Array.from({ length: 100 }, () => newEvent(large))
      await store.append([to(newStream(), 'none', events)])
    }
    const events = follow(store, 0, 5)
    await expect.poll(() => events.length).toBe(1_000)
    expect(idsOf(events)).toEqual(idsOf(await store.readAll(0, 1_000)))
  })

  it('never delivers the server’s own events', async () => {
    const { server, store } = await open()
    const events = follow(store)
    for (let i = 0; i < 20; i += 1) await store.append([to('a', 'any')])
    await expect.poll(() => events.length).toBe(20)
    expect(server.log.all().filter(({ type }) => type.startsWith('$')).length).toBeGreaterThan(2)
    expect(await store.readAll(0, 100)).toHaveLength(20)
    server.log.append('$ours', 'any', [
      {
        ...newEvent(),
        contentType: 'application/json',
        type: '$x',
        data: Buffer.from('{}'),
        metadata: new Uint8Array(),
      },
    ])
    expect(await store.headPosition()).toBe(events.at(-1)?.position)
  })
})

describe('a server that is slow, down or restarting', () => {
  it('leaves the outcome unknown if it misses the deadline, until the append repeats', async () => {
    const { server, store } = await open({ deadlineMs: 600 })
    const given = [to(newStream(), 'none', [newEvent()])]
    server.slowDown(900)
    const begin = performance.now()
    await expect(store.append(given)).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - begin).toBeLessThan(budget(2_500))
    server.slowDown(0)
    const stream = given[0]?.stream ?? ''
    await expect.poll(() => store.readStream(stream)).toHaveLength(1)
    expect((await store.append(given)).streams[0]?.revision).toBe(0)
    expect(await store.readStream(stream)).toHaveLength(1)
  })

  it('makes an append fail at the deadline if the server stays down', async () => {
    const { server, store } = await open({ deadlineMs: 700 })
    await store.append([to('a', 'none')])
    await server.stop()
    const begin = performance.now()
    await expect(store.append([to('a', 0)])).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - begin).toBeGreaterThanOrEqual(650)
    expect(performance.now() - begin).toBeLessThan(budget(3_000))
    await expect(store.readStream('a')).rejects.toThrow(StoreUnavailable)
  })

  it('loses and repeats no event if it restarts under six writers and a reader', async () => {
    const { server, store, seen } = await open({ deadlineMs: 20_000 })
    const events = follow(store)
    const writers = startWriters(store, 6)
    for (let restart = 0; restart < 4; restart += 1) {
      const before = server.log.all().length
      await expect.poll(() => server.log.all().length).toBeGreaterThan(before + 60)
      await server.stop()
      await server.start()
    }
    const ids = await writers.end()
    expect(seen.errors).toBeGreaterThanOrEqual(4)
    await expect.poll(() => events.length).toBe(ids.length)
    expect(idsOf(events).sort()).toEqual(ids.sort())
    expect(events).toEqual(await store.readAll(0, 100_000))
  })
})
