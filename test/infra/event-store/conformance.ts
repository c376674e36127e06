import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import {
  type Appended,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  RevisionConflict,
  type StreamAppend,
} from '#infra/event-store/port.ts'

const meta = { actor: 'user:1', cause: null, at: 1_795_000_000_123 }

export const newEvent = (data: object = {}, type = 'Happened'): NewEvent => ({
  ...{ id: randomUUID(), type, v: 1, data, meta },
})

export const to = (
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[] = [newEvent()],
): StreamAppend => ({ stream, expected, events })

export const newStream = (): string => `stream-${randomUUID()}`

/** Resolves with all events after `after` when at least `count` have arrived. */
export function collect(store: EventStore, after: number, count: number): Promise<Recorded[]> {
  const seen: Recorded[] = []
  return new Promise((resolve, reject) => {
    const onBatch = (events: readonly Recorded[]): void => {
      seen.push(...events)
      if (seen.length >= count) void subscription.stop().then(() => resolve(seen))
    }
    const subscription = store.subscribeAll(after, onBatch, reject, { maxBatch: 50 })
  })
}

const endsOf = ({ position, streams }: Appended) => ({
  position,
  streams: streams.map(({ positions, ...part }) => ({ ...part, end: positions.at(-1) })),
})

type Opened = { readonly store: EventStore; readonly close: () => Promise<void> }

/** Defines the tests that every event store adapter must pass. */
export function eventStoreConformance(open: () => Promise<Opened>): void {
  let opened: Opened
  let store: EventStore
  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened.close())

  describe('revisions', () => {
    it('a new stream begins at 0, and an exact revision continues it', async () => {
      const stream = newStream()
      const first = await store.append([to(stream, 'none', [newEvent(), newEvent()])])
      expect(first.streams[0]).toMatchObject({ stream, revision: 1 })
      const second = await store.append([to(stream, 1)])
      expect(second.streams[0]?.revision).toBe(2)
      const third = await store.append([to(stream, 'any')])
      expect(third.streams[0]?.revision).toBe(3)
      const events = await store.readStream(stream)
      expect(events.map(({ revision }) => revision)).toEqual([0, 1, 2, 3])
      expect((await store.readStream(stream, 1, 2)).map(({ revision }) => revision)).toEqual([1, 2])
    })

    it('a wrong one is a conflict that names the actual one, and writes nothing', async () => {
      const stream = newStream()
      await store.append([to(stream, 'none')])
      for (const wrong of ['none', 1, 7] as const) {
        const conflict = await store.append([to(stream, wrong)]).catch((error) => error)
        expect(conflict).toBeInstanceOf(RevisionConflict)
        expect(conflict).toMatchObject({ stream, actual: 0 })
      }
      await expect(store.append([to(newStream(), 0)])).rejects.toThrow(RevisionConflict)
      expect(await store.readStream(stream)).toHaveLength(1)
    })

    it('of fifty at once at the same one, one wins and no neighbour is hurt', async () => {
      const stream = newStream()
      const others = Array.from({ length: 50 }, newStream)
      const outcomes = await Promise.allSettled(
        others.flatMap((other) => [
          store.append([to(stream, 'none')]),
          store.append([to(other, 'none')]),
        ]),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(51)
      expect(await store.readStream(stream)).toHaveLength(1)
    })

    it('any of them, fifty at once, are all written in some order', async () => {
      const stream = newStream()
      await Promise.all(Array.from({ length: 50 }, () => store.append([to(stream, 'any')])))
      const events = await store.readStream(stream)
      expect(events.map(({ revision }) => revision)).toEqual([...Array(50).keys()])
    })
  })

  describe('an append', () => {
    it('to several streams is written as a whole, side by side, or not at all', async () => {
      const [a, b] = [newStream(), newStream()]
      const both = await store.append([to(a, 'none', [newEvent(), newEvent()]), to(b, 'none')])
      const [ofA = [], ofB = []] = both.streams.map((part) => part.positions)
      expect([ofA.length, ofB.length]).toEqual([2, 1])
      expect(ofA[1]).toBeGreaterThanOrEqual(ofA[0] ?? Number.NaN)
      expect(ofB[0]).toBeGreaterThan(ofA[1] ?? Number.NaN)
      expect(ofB[0]).toBe(both.position)
      const head = await store.headPosition()
      expect(head).toBe(both.position)
      await expect(store.append([to(a, 1), to(b, 'none')])).rejects.toThrow(RevisionConflict)
      expect(await store.readStream(a)).toHaveLength(2)
      expect(await store.headPosition()).toBe(head)
    })

    it('requires the revision of a stream to which it writes nothing', async () => {
      const [written, checked] = [newStream(), newStream()]
      await store.append([to(checked, 'none')])
      const none = (expected: ExpectedRevision) => to(checked, expected, [])
      for (const wrong of ['none', 1] as const) {
        const append = [none(wrong), to(written, 'none')]
        const conflict = await store.append(append).catch((error) => error)
        expect(conflict).toMatchObject({ name: 'RevisionConflict', stream: checked, actual: 0 })
      }
      expect(await store.readStream(written)).toEqual([])
      const append = [none(0), to(written, 'none'), to(newStream(), 'none')]
      const appended = await store.append(append)
      expect(appended.streams[0]).toEqual({ stream: checked, revision: 0, positions: [] })
      expect(appended.position).toBe(await store.headPosition())
      await store.append([to(checked, 0)])
      expect(await store.append(append)).toMatchObject({ position: appended.position })
      expect(await store.readStream(written)).toHaveLength(1)
      await expect(store.append([none('any'), to(written, 0)])).rejects.toThrow(checked)
      await expect(store.append([none(1)])).rejects.toThrow('no events')
    })

    it('repeated with its ids at its revision is answered as done, however late', async () => {
      const [a, b] = [newStream(), newStream()]
      await store.append([to(a, 'none')])
      const given = [to(a, 0, [newEvent(), newEvent()]), to(b, 'none')]
      const first = await store.append(given)
      const alone = [to(newStream(), 'none', [newEvent(), newEvent()])]
      const second = await store.append(alone)
      for (let i = 0; i < 20; i += 1) await store.append([to(a, 'any'), to(b, 'any')])
      const head = await store.headPosition()
      expect(endsOf(await store.append(given))).toEqual(endsOf(first))
      expect(endsOf(await store.append(alone))).toEqual(endsOf(second))
      const [one = given[0]] = given
      await expect(
        store.append([{ ...one, events: [newEvent(), newEvent()] } as StreamAppend]),
      ).rejects.toThrow(RevisionConflict)
      expect(await store.headPosition()).toBe(head)
    })

    it('fifty times at once with the same ids is written once', async () => {
      const given = [to(newStream(), 'none', [newEvent(), newEvent()])]
      const answers = await Promise.all(Array.from({ length: 50 }, () => store.append(given)))
      expect(new Set(answers.map(({ position }) => position)).size).toBe(1)
      expect(await store.readStream(given[0]?.stream ?? '')).toHaveLength(2)
    })

    it('that can’t be written is refused alone, with a reason', async () => {
      const cycle: { self?: object } = {}
      cycle.self = cycle
      const stream = newStream()
      const bad = [
        [to('with\0nul', 'none')],
        [to('half \ud800 pair', 'none')],
        [to('', 'none')],
        [to('$ours', 'none')],
        [to(stream, 'none', [newEvent({}, '$Happened')])],
        [
          to(
            stream,
            'none',
            [1, 2].map(() => newEvent({ text: 'é'.repeat(140_000) })),
          ),
        ],
        [to(stream, 'none', [newEvent({ big: 1n })])],
        [to(stream, 'none', [newEvent(cycle)])],
        [to(stream, 'none', [newEvent({ text: 'x'.repeat(1_048_577) })])],
        [to(stream, 'none', [{ ...newEvent(), id: 'no-uuid' }])],
        [to(stream, 'none', [{ ...newEvent(), type: 'a\0b' }])],
        [to(stream, 'none', [])],
        [to(stream, 'none'), to(stream, 'any')],
        [
          to(
            stream,
            'none',
            Array.from({ length: 501 }, () => newEvent()),
          ),
        ],
        [to(stream, -1)],
      ]
      const good = bad.map(newStream)
      const outcomes = await Promise.allSettled(
        bad.flatMap((streams, i) => [
          store.append(streams),
          store.append([to(good[i] ?? '', 'none')]),
        ]),
      )
      expect(outcomes.map(({ status }) => status)).toEqual(
        bad.flatMap(() => ['rejected', 'fulfilled']),
      )
    })

    it('of 500 events, or of a large one, is written', async () => {
      const stream = newStream()
      const many = Array.from({ length: 500 }, (_, i) => newEvent({ i }))
      await store.append([to(stream, 'none', many)])
      await store.append([to(stream, 499, [newEvent({ text: 'é'.repeat(390_000) })])])
      const events = await store.readStream(stream)
      expect(events.slice(0, 500).map(({ data }) => data)).toEqual(many.map(({ data }) => data))
      expect(events[500]?.data).toEqual({ text: 'é'.repeat(390_000) })
    })
  })

  it('gives back exactly what was written', async () => {
    const stream = newStream()
    const data = {
      text: 'NUL \0, half \ud800, emoji 🧾, 中文, "quoted" \\ {}, \u2028',
      'key \0 \udc00': [Number.MAX_SAFE_INTEGER, -0.1, 1e300, 5e-324, null, true],
      order: { z: 1, a: 2, 10: 3, 2: 4 },
      ['__proto__' as string]: { polluted: true },
    }
    const given = { ...newEvent(data, 'Kept'), v: 3, meta: { ...meta, cause: 'because 中' } }
    const before = await store.headPosition()
    const { position } = await store.append([to(stream, 'none', [given])])
    const [event] = await store.readStream(stream)
    expect(event).toEqual({ ...given, stream, revision: 0, position })
    expect(JSON.stringify(event?.data)).toBe(JSON.stringify(data))
    expect(await store.readAll(before, 1)).toEqual([event])
    expect(await store.eventAt(position)).toEqual(event)
    expect(await store.eventAt(0)).toBeNull()
    expect(await store.eventAt(position + 1)).toBeNull()
  })

  it('continues at the next event after a position without one', async () => {
    const stream = newStream()
    const positions: number[] = []
    for (const n of [1, 2, 3]) {
      const events = [newEvent({ n })]
      positions.push((await store.append([{ stream, expected: 'any', events }])).position)
    }
    const [first = 0, second = 0, third = 0] = positions
    const after = async (position: number, limit = 9) =>
      (await store.readAll(position, limit)).map((event) => event.position)
    expect(await after(second - 1)).toEqual([second, third])
    expect(await after(second - 1, 1)).toEqual([second])
    // In a store with gaps, no event has these positions.
    if (first + 1 < second) expect(await after(first + 1)).toEqual([second, third])
    expect(await after(third + 5)).toEqual([])
  })

  it('a tail of six writers, one append in ten failing, has no gap and no repeat', async () => {
    const start = await store.headPosition()
    const streams = Array.from({ length: 10 }, newStream)
    let written = 0
    const writer = async (seed: number): Promise<string[]> => {
      const ids: string[] = []
      for (let i = 0; i < 60; i += 1) {
        const events = Array.from({ length: 1 + ((seed + i) % 3) }, () => newEvent({ seed, i }))
        const expected = i % 10 === 0 ? 5_000 : 'any'
        const stream = streams[(seed * 7 + i) % streams.length] ?? ''
        const isWritten = await store.append([to(stream, expected, events)]).then(
          () => true,
          () => false,
        )
        expect(isWritten).toBe(expected === 'any')
        if (isWritten) ids.push(...events.map(({ id }) => id))
      }
      written += ids.length
      return ids
    }
    const expectedCount = 6 * 60 * 2 - 6 * 6 * 2
    const tail = collect(store, start, expectedCount)
    const ids = (await Promise.all([0, 1, 2, 3, 4, 5].map(writer))).flat()
    expect(written).toBe(expectedCount)
    const seen = await tail
    expect(seen.map(({ id }) => id).sort()).toEqual(ids.sort())
    expect(seen).toEqual(await store.readAll(start, expectedCount + 1))
    expect(seen.every(({ position }, i) => position > (seen[i - 1]?.position ?? start))).toBe(true)
  })

  it('a filtered subscription gets its streams alone, and goes on past the others', async () => {
    const start = await store.headPosition()
    const [prefix, other] = [newStream(), newStream()]
    const write = async (): Promise<void> => {
      await store.append([to(`${prefix}-a`, 'any'), to(other, 'any')])
      await store.append([to(other, 'any'), to(`not-${prefix}`, 'any')])
      await store.append([to(`${prefix}-b`, 'any', [newEvent(), newEvent()])])
      await store.append([to(other, 'any')])
    }
    await write()
    const seen: Recorded[] = []
    let reached = start
    const subscription = store.subscribeAll(
      start,
      (events, position) => {
        expect(events.every((event) => event.position > reached)).toBe(true)
        seen.push(...events)
        reached = position
      },
      () => {},
      { maxBatch: 2, streamPrefixes: [prefix, 'nothing-'] },
    )
    await expect.poll(() => reached).toBe(await store.headPosition())
    await write()
    await expect.poll(() => reached).toBe(await store.headPosition())
    await subscription.stop()
    const all = await store.readAll(start, 100)
    expect(all).toHaveLength(14)
    expect(seen).toEqual(all.filter(({ stream }) => stream.startsWith(prefix)))
    expect(seen).toHaveLength(6)
  })

  it('a subscription whose consumer fails ends, and says so', async () => {
    const start = await store.headPosition()
    const failure = new Promise((resolve) => {
      store.subscribeAll(start, () => Promise.reject(new Error('poison')), resolve)
    })
    await store.append([to(newStream(), 'none')])
    expect(await failure).toMatchObject({ message: 'poison' })
  })
}

/** Defines the additional tests for adapters whose positions have no gaps. */
export function densePositions(open: () => Promise<Opened>): void {
  it('positions are dense, over the streams of an append and over appends', async () => {
    const { store, close } = await open()
    const both = await store.append([
      to(newStream(), 'none', [newEvent(), newEvent()]),
      to(newStream(), 'none'),
    ])
    expect(both.streams.flatMap((part) => part.positions)).toEqual([1, 2, 3])
    await expect(store.append([to(newStream(), 7)])).rejects.toThrow(RevisionConflict)
    const tail = collect(store, 0, 53)
    await Promise.all(Array.from({ length: 50 }, () => store.append([to(newStream(), 'none')])))
    expect((await tail).map(({ position }) => position)).toEqual([...Array(54).keys()].slice(1))
    await close()
  })
}
