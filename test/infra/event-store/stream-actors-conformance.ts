import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { type EventStore, StoreUnavailable } from '#infra/event-store/port.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { type Done, type Outcome, RECENT_MS } from '#infra/event-store/stream-actors-port.ts'
import {
  add,
  type CounterCommand,
  type CounterState,
  context,
  counterDecider,
} from './counter-decider.ts'

const log = pino({ level: 'silent' })
const fifty = <T>(make: (index: number) => T): T[] => Array.from({ length: 50 }, (_, i) => make(i))

function actorsOn(store: EventStore, options = {}) {
  return createStreamActors({ store, snapshots: createMemorySnapshots(), log, ...options })
}

/**
 * Wraps a store so that it counts its appends, and fails the appends for which `fault` returns an
 * error.
 */
function watched(store: EventStore, fault: (nth: number) => Error | null = () => null) {
  const seen = { appends: 0 }
  const append: EventStore['append'] = async (streams) => {
    seen.appends += 1
    const error = fault(seen.appends)
    if (error !== null) throw error
    return await store.append(streams)
  }
  return { store: { ...store, append }, seen }
}

/** Returns the result of a command that must succeed. */
async function done<E extends Fact>(outcome: Promise<Outcome<E, CodedError>>): Promise<Done<E>> {
  const settled = await outcome
  if (!settled.isDone) throw new Error(`refused: ${settled.error.code}`)
  return settled
}

const totalOf = (state: CounterState): number => state.total

const total = (store: EventStore, stream: string) => store.readStream(stream).then((e) => e.length)

/**
 * Defines the tests that the stream actors must pass on every event store. `open` returns a new,
 * empty store. `hasTransactions` is true when a joint append is atomic, so that no other process
 * can write in between.
 */
export function streamActorsConformance(
  open: () => Promise<EventStore>,
  { hasTransactions = true } = {},
): void {
  describe('commands of one stream', () => {
    it('fifty at once never pass a bound of ten, and cost a few appends', async () => {
      const { store, seen } = watched(await open())
      const actors = actorsOn(store)
      const decider = counterDecider(10)
      const outcomes = await Promise.all(fifty(() => actors.handle(decider, 'c', add(), context)))
      expect(outcomes.filter(({ isDone }) => isDone)).toHaveLength(10)
      expect(await total(store, 'c')).toBe(10)
      expect(seen.appends).toBeLessThanOrEqual(2)
    })

    it('are answered with their own events, at their own positions', async () => {
      const store = await open()
      const actors = actorsOn(store)
      const decider = counterDecider(100)
      await actors.handle(decider, 'other', add(), context)
      const outcomes = await Promise.all(fifty((i) => actors.handle(decider, 'c', add(i), context)))
      for (const [by, outcome] of outcomes.entries()) {
        if (!outcome.isDone) continue
        expect(outcome.events.map(({ data }) => data.by)).toEqual(by === 0 ? [] : [by])
        for (const event of outcome.events) {
          const [stored] = await store.readStream('c', event.revision, 1)
          expect({ ...stored, position: event.position }).toEqual(event)
          expect(event.position).toBeGreaterThanOrEqual(stored?.position ?? Number.NaN)
          expect(outcome.position).toBe(event.position)
        }
      }
    })

    it('of two processes, five hundred at once, all end, and none is lost or doubled', async () => {
      const store = await open()
      const both = [actorsOn(store), actorsOn(store)]
      const decider = counterDecider(400)
      const outcomes = await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          (both[i % 2] ?? actorsOn(store)).handle(decider, 'c', add(), context),
        ),
      )
      expect(outcomes.filter(({ isDone }) => isDone)).toHaveLength(400)
      expect(await total(store, 'c')).toBe(400)
    })

    it('are not refused or taken for done on what another process changed meanwhile', async () => {
      const store = await open()
      const [here, there] = [actorsOn(store), actorsOn(store)]
      const decider = counterDecider(3)
      const ensure: CounterCommand = { type: 'Ensure', atLeast: 3 }
      await here.handle(decider, 'c', add(1), context)
      const { position } = await done(there.handle(decider, 'c', add(2), context))
      const ensured = await here.handle(decider, 'c', ensure, context)
      expect(ensured).toMatchObject({ isDone: true, events: [], position })
      expect((await here.stateOf(decider, 'c')).total).toBe(3)
    })

    it('peeks at other streams do not evict a cached stream in use', async () => {
      const store = await open()
      const actors = actorsOn(store, { hotStreamsMax: 1 })
      const decider = counterDecider(100)
      await actors.handle(decider, 'c', add(), context)
      await actorsOn(store).handle(decider, 'd', add(), context)
      const names = fifty((n) => (n % 2 ? 'd' : `none-${n}`))
      const totals = await Promise.all(names.map((name) => actors.peek(decider, name)))
      expect(totals.map(({ total: sum }) => sum)).toEqual(fifty((n) => n % 2))
      const { readStream } = store
      const from: (number | undefined)[] = []
      store.readStream = (stream, fromRevision, limit) => {
        from.push(fromRevision)
        return readStream.call(store, stream, fromRevision, limit)
      }
      expect((await actors.peek(decider, 'c')).total).toBe(1)
      expect(from).toEqual([1])
    })

    it('a bug in one of them is its own caller’s alone', async () => {
      const actors = actorsOn(await open())
      const decider = counterDecider(100)
      const crash = actors.handle(decider, 'c', { type: 'Crash' }, context)
      const broken = { type: 'Add', by: 1, note: 'break evolve' } as const
      const breaks = actors.handle(decider, 'c', broken, context)
      const [one, two] = [add(), add()].map((c) => actors.handle(decider, 'c', c, context))
      await expect(crash).rejects.toThrow('a bug in decide')
      await expect(breaks).rejects.toThrow('a bug in evolve')
      expect(await Promise.all([one, two])).toMatchObject([{ isDone: true }, { isDone: true }])
      expect((await actors.stateOf(decider, 'c')).total).toBe(2)
    })

    it('one too large to store does not fail its neighbours', async () => {
      const actors = actorsOn(await open())
      const decider = counterDecider(100)
      const note = 'x'.repeat(1_100_000)
      const large = { type: 'Add', by: 1, note } as const
      const [before, poison, after] = [add(), large, add()].map((command) =>
        actors.handle(decider, 'c', command, context),
      )
      await expect(poison).rejects.toThrow('at most')
      expect(await Promise.all([before, after])).toMatchObject([{ isDone: true }, { isDone: true }])
      expect((await actors.stateOf(decider, 'c')).total).toBe(2)
    })

    it('a lost store rejects them, and what was half decided is not kept', async () => {
      const inner = await open()
      const { store } = watched(inner, (nth) => (nth === 2 ? new StoreUnavailable('gone') : null))
      const actors = actorsOn(store)
      const decider = counterDecider(10)
      await actors.handle(decider, 'c', add(4), context)
      await expect(actors.handle(decider, 'c', add(5), context)).rejects.toThrow(StoreUnavailable)
      const after = await actors.handle(decider, 'c', add(6), context)
      expect(after.isDone).toBe(true)
    })
  })

  describe('a state', () => {
    it('comes from its snapshot and the events after it', async () => {
      const store = await open()
      const snapshots = createMemorySnapshots()
      const decider = counterDecider(1_000)
      const first = createStreamActors({ store, snapshots, log, snapshotEvery: 10 })
      for (let i = 0; i < 25; i += 1) await first.handle(decider, 'c', add(), context)
      expect((await snapshots.load('c'))?.revision).toBe(19)
      let isRead = 0
      const counting: EventStore = {
        ...store,
        readStream: async (stream, from, limit) => {
          const events = await store.readStream(stream, from, limit)
          isRead += events.length
          return events
        },
      }
      const second = createStreamActors({ store: counting, snapshots, log })
      expect((await second.stateOf(decider, 'c')).total).toBe(25)
      expect(isRead).toBe(6)
    })

    it('ignores a snapshot of another version, or of another history', async () => {
      const store = await open()
      const decider = counterDecider(1_000)
      const { position } = await done(actorsOn(store).handle(decider, 'c', add(), context))
      for (const wrong of [
        { version: 2, position },
        { version: 1, position: position + 8 },
      ]) {
        const snapshots = createMemorySnapshots()
        await snapshots.save('c', { revision: 0, state: { total: 77 }, ...wrong })
        const actors = createStreamActors({ store, snapshots, log })
        expect((await actors.stateOf(decider, 'c')).total).toBe(1)
      }
    })

    it('is recent for some seconds after it was written or read', async () => {
      const store = await open()
      const [here, there] = [actorsOn(store), actorsOn(store)]
      const decider = counterDecider(1_000)
      const recent = () => here.askRecent(decider, 'c', totalOf)
      expect(recent()).toBe(null)
      await here.handle(decider, 'c', add(2), context)
      await there.handle(decider, 'c', add(3), context)
      expect(recent()).toBe(2)
      expect(await here.ask(decider, 'c', totalOf)).toBe(5)
      expect(recent()).toBe(5)
      const clock = vi.spyOn(performance, 'now')
      clock.mockReturnValue(performance.now() + RECENT_MS + 1)
      expect(recent()).toBe(null)
      await here.handle(decider, 'c', add(4), context)
      expect(recent()).toBe(9)
      clock.mockRestore()
    })

    it('is read at most twice for fifty questions at once, and is the latest', async () => {
      const store = await open()
      const [here, there] = [actorsOn(store), actorsOn(store)]
      const decider = counterDecider(1_000)
      await here.handle(decider, 'c', add(2), context)
      await there.handle(decider, 'c', add(3), context)
      const reads = vi.spyOn(store, 'readStream')
      const answers = await Promise.all(fifty(() => here.ask(decider, 'c', totalOf)))
      expect(new Set(answers)).toEqual(new Set([5]))
      expect(reads.mock.calls.length).toBeLessThanOrEqual(2)
      reads.mockRestore()
    })

    it('handed out is a copy, and forgotten streams are loaded again', async () => {
      const actors = actorsOn(await open(), { hotStreamsMax: 1 })
      const decider = counterDecider(1_000)
      await actors.handle(decider, 'a', add(2), context)
      const before = await actors.stateOf(decider, 'a')
      await actors.handle(decider, 'b', add(), context)
      await actors.handle(decider, 'a', add(3), context)
      expect([before.total, (await actors.stateOf(decider, 'a')).total]).toEqual([2, 5])
    })
  })

  describe('an act on several streams', () => {
    const step = (stream: string, by: number, bound = deciders) => ({
      decider: bound,
      stream,
      command: add(by),
    })
    const deciders = counterDecider(45)

    it('is written as a whole, or refused as a whole', async () => {
      const store = await open()
      const actors = actorsOn(store)
      const both = await actors.handleTogether([step('a', 1), step('b', 2), step('a', 3)], context)
      const head = await store.headPosition()
      expect(both).toMatchObject({ isDone: true, position: head })
      const refused = await actors.handleTogether([step('a', 1), step('b', 49)], context)
      expect(refused).toMatchObject({ isDone: false, error: { code: 'TooMuch' } })
      const same = await actors.handleTogether([step('a', 1), step('a', 49)], context)
      expect(same).toMatchObject({ isDone: false })
      expect((await actors.stateOf(deciders, 'a')).total).toBe(4)
      expect(await store.headPosition()).toBe(head)
      expect(await store.readAll(0, 10)).toHaveLength(3)
    })

    it('beside a stream that others write to, reads only what they wrote', async () => {
      const store = await open()
      const others = actorsOn(store)
      for (let i = 0; i < 3; i += 1) await done(others.handle(deciders, 'a', add(), context))
      const reads: number[] = []
      let isBusy = true
      const actors = actorsOn({
        ...store,
        readStream: (stream, from = 0, limit) => {
          if (stream === 'a') reads.push(from)
          return store.readStream(stream, from, limit)
        },
        append: async (streams) => {
          if (isBusy) await done(others.handle(deciders, 'a', add(), context))
          isBusy = reads.length < 3
          return await store.append(streams)
        },
      })
      await done(actors.handleTogether([step('a', 1), step('b', 1)], context))
      expect(reads).toEqual([0, 3, 4, 5])
      expect((await actors.stateOf(deciders, 'a')).total).toBe(7)
    })

    it('is decided again if a stream to which it writes nothing has changed', async () => {
      const store = await open()
      const others = actorsOn(store)
      await done(others.handle(deciders, 'a', add(3), context))
      const conflicts: unknown[] = []
      const actors = actorsOn({
        ...store,
        append: async (streams) => {
          if (conflicts.length === 0) await done(others.handle(deciders, 'a', add(), context))
          return await store.append(streams).catch((error) => {
            conflicts.push(error)
            throw error
          })
        },
      })
      const unchanged = { ...step('a', 0), command: { type: 'Ensure', atLeast: 3 } }
      await done(actors.handleTogether([unchanged, step('b', 1)], context))
      expect(conflicts).toMatchObject([{ name: 'RevisionConflict', stream: 'a', actual: 1 }])
      expect(await store.readStream('b')).toHaveLength(1)
      expect((await actors.stateOf(deciders, 'a')).total).toBe(4)
    })

    it('fifty at once, crossing each other, all end and keep every bound', async () => {
      const store = await open()
      const both = [actorsOn(store), actorsOn(store)]
      const acts = fifty((i) => {
        const [one, two] = [`s${i % 3}`, `s${(i + 1 + (i % 2)) % 3}`]
        return (both[i % 2] ?? actorsOn(store)).handleTogether(
          [step(one, 1), step(two, 1)],
          context,
        )
      })
      const singles = fifty((i) => actorsOn(store).handle(deciders, `s${i % 3}`, add(), context))
      const [outcomes, alone] = await Promise.all([Promise.all(acts), Promise.all(singles)])
      const done = outcomes.filter(({ isDone }) => isDone).length
      const doneAlone = alone.filter(({ isDone }) => isDone).length
      const totals = await Promise.all(['s0', 's1', 's2'].map((s) => total(store, s)))
      expect(totals.reduce((sum, n) => sum + n, 0)).toBe(2 * done + doneAlone)
      expect(Math.max(...totals)).toBeGreaterThanOrEqual(45)
      if (hasTransactions) expect(Math.max(...totals)).toBe(45)
      expect(done + doneAlone).toBeLessThan(100)
    })
  })
}
