import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import { pauseUntilCommit } from '#infra/event-store/pause-idle-work-until-next-event.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { budget } from '#test/support/time-limit.ts'
import {
  collect,
  densePositions,
  eventStoreConformance,
  newEvent,
  newStream,
  to,
} from './conformance.ts'

const log = pino({ level: 'silent' })

describe('the event store in Postgres', () => {
  const open = async () => {
    const database = await testDatabase()
    // The partitions are so small that the tests often create new ones.
    const options = { connectionString: database.url, log, partitionSize: 600 }
    const store = await createPostgresEventStore(options)
    const close = async (): Promise<void> => {
      await store.close()
      await database.drop()
    }
    return { store, close }
  }
  eventStoreConformance(open)
  densePositions(open)

  it('omits events of lanes that were not requested, but never the last event', async () => {
    const { store, close } = await open()
    const streams = Array.from({ length: 60 }, (_, id) => `account-${id}`)
    for (const stream of streams) await store.append([to(stream, 'none')])
    const idsOf = (events: readonly { stream: string }[]) =>
      events.map(({ stream }) => Number(stream.slice(8)))
    const first = await store.readAll(0, 10, [2, 3])
    // The last event of the page is always included, because it shows how far the page reaches.
    expect(idsOf(first)).toEqual([2, 3, 9])
    expect(idsOf(await store.readAll(first.at(-1)?.position ?? 0, 100, [2]))).toEqual([
      10, 18, 26, 34, 42, 50, 58,
    ])
    expect(await store.readAll(await store.headPosition(), 10, [2])).toEqual([])
    await close()
  })

  it('a wrong revision rejects its whole append, and no neighbouring append', async () => {
    const { store, close } = await open()
    const hot = newStream()
    await store.append([to(hot, 'none')])
    const start = await store.headPosition()
    const pairs = Array.from({ length: 40 }, () => [newStream(), newStream()] as const)
    const wrong = pairs.map((_, index) => index % 3 === 1)
    const outcomes = await Promise.allSettled(
      pairs.map(([one, two], index) =>
        store.append([
          to(one, 'none', [newEvent(), newEvent()]),
          wrong[index] ? to(`${hot}-${index}`, 7) : to(two, 'none'),
        ]),
      ),
    )
    expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(wrong)
    const written = await store.readAll(start, 1_000)
    const good = pairs.filter((_, index) => !wrong[index])
    expect(written.map(({ stream }) => stream)).toEqual(
      good.flatMap(([one, two]) => [one, one, two]),
    )
    expect(written.map(({ position }) => position)).toEqual(written.map((_, i) => start + 1 + i))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') continue
      const [first] = outcome.value.streams
      const event = written.find(({ stream }) => stream === first?.stream)
      expect(event?.position).toBe(first?.positions[0])
    }
    expect(await store.headPosition()).toBe(start + written.length)
    await close()
  })

  it('two processes share one order, and wake each other’s readers', async () => {
    const database = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: database.url, log })
    const [one, two] = [await open(), await open()]
    const seen = collect(two, 0, 200)
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => (i % 2 ? one : two).append([to(newStream(), 'none')])),
    )
    expect((await seen).map(({ position }) => position)).toEqual(
      [...Array(200).keys()].map((n) => n + 1),
    )
    const begin = performance.now()
    const next = collect(two, 200, 1)
    await one.append([to(newStream(), 'none', [newEvent()])])
    await next
    expect(performance.now() - begin).toBeLessThan(budget(900))
    await Promise.all([one.close(), two.close()])
    await database.drop()
  })

  it('events of another process are queried once for all readers of a process', async () => {
    const database = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: database.url, log })
    const [writer, store] = [await open(), await open()]
    const all: Recorded[] = []
    const patient: Recorded[] = []
    const everything = Promise.withResolvers<void>()
    const subscriptions = [
      store.subscribeAll(
        0,
        (events) => {
          patient.push(...events)
          if (patient.length === 150) everything.resolve()
        },
        everything.reject,
        // The other reader's query takes less time even on a busy machine.
        { streamPrefixes: ['account-'], queryDelayMs: 5_000 },
      ),
      store.subscribeAll(0, (events) => void all.push(...events), everything.reject),
    ]
    for (let round = 0; round < 3; round += 1) {
      const streams = Array.from({ length: 50 }, (_, n) => `${round * 50 + n}`)
      const before = all.length
      await Promise.all(
        streams.flatMap((id) => [
          writer.append([to(`account-${id}`, 'none')]),
          writer.append([to(`other-${id}`, 'none')]),
        ]),
      )
      await vi.waitFor(() => expect(all.length).toBe(before + 100), budget(2_000))
    }
    await everything.promise
    // A reader that had queried the events would have received equal objects, but not the same.
    const accounts = all.filter(({ stream }) => stream.startsWith('account-'))
    expect(patient).toHaveLength(accounts.length)
    expect(patient.filter((event, index) => event !== accounts[index])).toEqual([])
    await Promise.all(subscriptions.map((one) => one.stop()))
    await Promise.all([writer.close(), store.close()])
    await database.drop()
  })

  it('a patient reader without another reader gets every event once and in order', async () => {
    const database = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: database.url, log })
    const [writer, store] = [await open(), await open()]
    const positions: number[] = []
    const done = Promise.withResolvers<void>()
    const subscription = store.subscribeAll(
      0,
      (events) => {
        positions.push(...events.map(({ position }) => position))
        if (positions.length >= 40) done.resolve()
      },
      done.reject,
      { streamPrefixes: ['account-'], queryDelayMs: 50 },
    )
    const ids = Array.from({ length: 40 }, (_, n) => n)
    await Promise.all(ids.map((id) => writer.append([to(`account-${id}`, 'none')])))
    await done.promise
    expect(positions).toEqual(ids.map((n) => n + 1))
    await subscription.stop()
    await Promise.all([writer.close(), store.close()])
    await database.drop()
  })

  it('a patient reader that is far behind does not wait before each page', async () => {
    const database = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: database.url, log })
    const writer = await open()
    const events = Array.from({ length: 45 }, () => newEvent())
    await writer.append([to('account-1', 'none', events)])
    const store = await open()
    const positions: number[] = []
    const failed: unknown[] = []
    const subscription = store.subscribeAll(
      0,
      (page) => void positions.push(...page.map(({ position }) => position)),
      (error) => failed.push(error),
      { streamPrefixes: ['account-'], maxBatch: 10, queryDelayMs: 3_600_000 },
    )
    // Another reader may soon have queried the last page, so the reader waits only there.
    const dense = Array.from({ length: 40 }, (_, n) => n + 1)
    await vi.waitFor(() => expect(positions).toEqual(dense), 20_000)
    await subscription.stop()
    expect(failed).toEqual([])
    expect(positions).toEqual(dense)
    await Promise.all([writer.close(), store.close()])
    await database.drop()
  })

  it('work that pauses until a commit continues after one of any process', async () => {
    const database = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: database.url, log })
    const [one, two] = [await open(), await open()]
    const never = new AbortController()
    const pause = { everyMs: 1, idleMs: 60_000, signal: never.signal }
    for (const writer of [one, two]) {
      const seen = one.commits?.position() ?? null
      expect(seen).toBe(await one.headPosition())
      // Fifty at once, of which none may miss the commit.
      const pauses = Array.from({ length: 50 }, () => pauseUntilCommit(one, { ...pause, seen }))
      await writer.append([to(newStream(), 'none')])
      await Promise.all(pauses)
      // A commit before the pause ends it as well.
      await pauseUntilCommit(one, { ...pause, seen })
    }
    const seen = one.commits?.position() ?? null
    const aborted = pauseUntilCommit(one, { ...pause, seen })
    never.abort()
    await aborted
    const { signal } = new AbortController()
    await pauseUntilCommit(one, { seen, everyMs: 1, idleMs: 20, signal })
    await Promise.all([one.close(), two.close()])
    await database.drop()
  })
})
