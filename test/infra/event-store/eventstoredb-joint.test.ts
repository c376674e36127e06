import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks, type Locks } from '#infra/event-store/eventstoredb/locks.ts'
import { RevisionConflict, StoreUnavailable } from '#infra/event-store/port.ts'
import {
  type EventStoreDbServer,
  startEventStoreDbServer,
} from '#test/support/event-store-db/server.ts'
import { collect, newEvent, to } from './conformance.ts'

const NO_RECOVERY = { everyMs: 60_000, graceMs: Number.MAX_SAFE_INTEGER }
const BUSY_RECOVERY = { everyMs: 20, graceMs: 0 }

function alarms() {
  const lines: string[] = []
  const write = (line: string): void => {
    if (line.includes('"alarm"')) lines.push(line)
  }
  return { log: pino({}, { write }), lines }
}

async function startServer(): Promise<EventStoreDbServer> {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  return server
}

type Given = {
  locks?: Locks
  recovery?: typeof NO_RECOVERY
  log?: ReturnType<typeof alarms>['log']
  deadlineMs?: number
}

async function openStore({ url }: EventStoreDbServer, given: Given = {}) {
  const {
    locks = createMemoryLocks(),
    recovery = NO_RECOVERY,
    log = alarms().log,
    deadlineMs = 3_000,
  } = given
  const store = await createEventStoreDbStore({
    ...{ url, locks, recovery, log, deadlineMs, replyWithinMs: 1_000 },
  })
  onTestFinished(() => store.close())
  return store
}

/** Makes a joint append whose process fails before it writes the second part. */
async function tornAppend(server: EventStoreDbServer, locks: Locks) {
  const store = await openStore(server, { locks })
  await store.append([to('user', 'none')])
  const given = [to('account', 'none', [newEvent(), newEvent({ n: 1 })]), to('user', 0)]
  server.loseAppends('user')
  await expect(store.append(given)).rejects.toThrow(StoreUnavailable)
  server.loseAppends(null)
  expect(await store.readStream('account')).toHaveLength(2)
  expect(await store.readStream('user')).toHaveLength(1)
  await store.close()
  return given
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

describe('a joint append that its process did not finish', () => {
  it('is finished exactly once, however many processes recover at the same time', async () => {
    const server = await startServer()
    const given = await tornAppend(server, createMemoryLocks())
    // Each recovery has separate locks, so that the two recoveries do not exclude each other.
    const stores = await Promise.all([
      openStore(server, { recovery: BUSY_RECOVERY }),
      openStore(server, { recovery: BUSY_RECOVERY }),
    ])
    const [one] = stores
    await expect.poll(() => one.readStream('user', 1)).toHaveLength(1)
    const seen = await collect(one, 0, 4)
    expect(idsOf(seen).slice(1)).toEqual(idsOf(given.flatMap(({ events }) => events)))
    await one.append([to('other', 'none')])
    expect(await one.readAll(0, 10)).toHaveLength(5)
    expect(Object.keys(seen[2]?.meta ?? {})).toEqual(['actor', 'cause', 'at'])
  })

  it('is finished after the events that another writer appended in between', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    const given = await tornAppend(server, locks)
    const store = await openStore(server, { locks })
    const between = newEvent()
    await store.append([to('user', 0, [between])])
    const recovering = await openStore(server, { locks, recovery: BUSY_RECOVERY })
    await expect.poll(() => recovering.readStream('user', 1)).toHaveLength(2)
    const late = given[1]?.events ?? []
    expect(idsOf(await store.readStream('user', 1))).toEqual([between.id, ...idsOf(late)])
    // A recovery with new locks starts at position 0, so it reads all events again.
    const newLocks = createMemoryLocks()
    const last = await store.headPosition()
    await openStore(server, { locks: newLocks, recovery: BUSY_RECOVERY })
    await expect.poll(() => newLocks.completeUpTo()).toBe(last)
    expect(await store.headPosition()).toBe(last)
  })

  it('is finished by its own caller when the caller repeats it', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    const given = await tornAppend(server, locks)
    const store = await openStore(server, { locks })
    const done = await store.append(given)
    expect(done.streams.map(({ revision }) => revision)).toEqual([1, 1])
    expect((await store.append(given)).position).toBe(done.position)
    expect(await store.readAll(0, 10)).toHaveLength(4)
    const other = [...given.slice(0, 1), to('user', 0)].map((part) => ({
      ...part,
      events: [newEvent()],
    }))
    await expect(store.append(other)).rejects.toThrow(RevisionConflict)
  })

  it('is searched for once: the next recovery begins where the last one stopped', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    await tornAppend(server, locks)
    await openStore(server, { locks, recovery: BUSY_RECOVERY })
    const last = server.log.stream('account').at(-1)?.position ?? 0
    await expect.poll(() => locks.completeUpTo()).toBeGreaterThan(last)
    expect(server.log.stream('user')).toHaveLength(2)
  })

  it('is left to its process during the grace period, measured by the shared clock', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    const given = await tornAppend(server, locks)
    const begunAt = given[0]?.events[0]?.meta.at ?? 0
    // The shared time is days away from the clocks of this machine and of the server.
    let passes = 0
    let nowMs = begunAt + 14_900
    const now = async () => {
      passes += 1
      return nowMs
    }
    const recovery = { everyMs: 20, graceMs: 15_000 }
    const recovering = await openStore(server, { locks: { ...locks, now }, recovery })
    await expect.poll(() => passes).toBeGreaterThan(3)
    expect(await recovering.readStream('user')).toHaveLength(1)
    nowMs = begunAt + 15_100
    await expect.poll(() => recovering.readStream('user')).toHaveLength(2)
  })

  it('is completed once in a stream that was new, even after another first event', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    const store = await openStore(server, { locks })
    const act = [to('code', 'none'), to('account', 'none')]
    server.loseAppends('account')
    await expect(store.append(act)).rejects.toThrow(StoreUnavailable)
    server.loseAppends(null)
    const first = newEvent()
    await store.append([to('account', 'none', [first])])
    const { log, lines } = alarms()
    const given = { recovery: BUSY_RECOVERY, log }
    const stores = await Promise.all([openStore(server, given), openStore(server, given)])
    await expect.poll(() => store.readStream('account')).toHaveLength(2)
    const credit = act[1]?.events ?? []
    await Promise.all(stores.map((store) => store.append(act)))
    expect(idsOf(await store.readStream('account'))).toEqual([first.id, ...idsOf(credit)])
    expect(lines).toEqual([])
  })

  it('raises an alarm if a stream that had to be new already exists', async () => {
    const server = await startServer()
    const { log, lines } = alarms()
    const store = await openStore(server, { log })
    server.forceConflicts(1, 'name')
    const torn = store.append([to('user', 'none'), { ...to('name', 'none'), mustBeNew: true }])
    await expect(torn).rejects.toThrow('had to be new')
    expect(lines).toHaveLength(1)
    expect(await store.readStream('name')).toHaveLength(1)
  })
})

describe('joint appends of two processes', () => {
  it('all end when they cross each other, and each is written completely and once', async () => {
    const server = await startServer()
    const locks = createMemoryLocks()
    const given = { locks, deadlineMs: 20_000 }
    const stores = [await openStore(server, given), await openStore(server, given)]
    const ids: string[] = []
    const act = async (index: number): Promise<void> => {
      const streams = index % 3 === 0 ? ['a', 'b'] : index % 3 === 1 ? ['b', 'c'] : ['c', 'a']
      const parts = streams.map((stream) => to(stream, 'any'))
      ids.push(...parts.flatMap(({ events }) => idsOf(events)))
      await stores[index % 2]?.append(parts)
    }
    await Promise.all(Array.from({ length: 30 }, (_, index) => act(index)))
    const all = (await stores[0]?.readAll(0, 100)) ?? []
    expect(idsOf(all).sort()).toEqual(ids.sort())
  })
})
