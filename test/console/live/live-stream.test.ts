import { BehaviorSubject, type Subscription } from 'rxjs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LiveEvent, LiveState } from '#console/api/live/live-event.ts'
import { createLiveStream, type LiveSocket } from '#console/api/live/live-stream.ts'

class FakeSocket implements LiveSocket {
  onopen: (() => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onclose: (() => void) | null = null
  readonly sent: unknown[] = []
  isClosed = false
  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  close(): void {
    this.isClosed = true
  }
  say(...messages: unknown[]): void {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) })
  }
  open(position: number): void {
    this.onopen?.()
    this.say({ type: 'ready', position })
  }
}

const log = (position: number) => ({
  type: 'event',
  topic: 'logs',
  position,
  data: { id: position },
})
const channel = (position: number, id: number) => ({
  type: 'event',
  topic: 'channels',
  position,
  data: { id },
})

describe('the live stream', () => {
  const sockets: FakeSocket[] = []
  const last = (): FakeSocket => sockets.at(-1) as FakeSocket
  const isOnline$ = new BehaviorSubject(true)
  const isWatched$ = new BehaviorSubject(true)
  let events: LiveEvent[] = []
  let states: LiveState[] = []
  let running: Subscription
  const seen = (): (string | number)[] =>
    events.map((event) => (event.kind === 'event' ? event.position : `resync ${event.topic}`))
  const stream = () =>
    createLiveStream({
      connect: () => {
        sockets.push(new FakeSocket())
        return last()
      },
      isOnline$,
      isWatched$,
      random: () => 0.5,
      now: () => 1_000_000,
    })
  let live = stream()

  beforeEach(() => {
    vi.useFakeTimers()
    sockets.length = 0
    events = []
    states = []
    isOnline$.next(true)
    isWatched$.next(true)
    live = stream()
    live.state$.subscribe((state) => states.push(state))
    running = live.events$.subscribe((event) => events.push(event))
    last().open(10)
    events = []
  })
  afterEach(() => {
    running.unsubscribe()
    vi.runOnlyPendingTimers()
    vi.useRealTimers()
  })

  it('opens one connection for all listeners, and subscribes to all topics', () => {
    const second = live.events$.subscribe()
    expect(sockets).toHaveLength(1)
    const topics = ['logs', 'channels', 'tokens', 'inbox', 'tasks', 'users', 'audit-log']
    expect(last().sent).toEqual([{ type: 'subscribe', topics }])
    second.unsubscribe()
  })

  it('starts with a resync of every topic at the position of the connection', () => {
    const begun: LiveEvent[] = []
    const fresh = stream().events$.subscribe((event) => begun.push(event))
    last().open(42)
    expect(begun).toEqual([
      { kind: 'resync', topic: 'logs', position: 42 },
      { kind: 'resync', topic: 'channels', position: 42 },
      { kind: 'resync', topic: 'tests', position: 42 },
      { kind: 'resync', topic: 'tokens', position: 42 },
      { kind: 'resync', topic: 'inbox', position: 42 },
      { kind: 'resync', topic: 'tasks', position: 42 },
      { kind: 'resync', topic: 'users', position: 42 },
      { kind: 'resync', topic: 'audit-log', position: 42 },
    ])
    fresh.unsubscribe()
  })

  it('resumes after a disconnect without gap or repeat, even within one position', () => {
    last().say(log(11), log(12), channel(12, 1))
    last().onclose?.()
    vi.advanceTimersByTime(500)
    expect(sockets).toHaveLength(2)
    last().onopen?.()
    expect(last().sent[0]).toMatchObject({ type: 'subscribe', after: 11 })
    last().say(log(12), channel(12, 1), channel(12, 2), log(13), { type: 'ready', position: 13 })
    expect(seen()).toEqual([11, 12, 12, 12, 13])
  })

  it('passes on each act of the audit log once, also those of one event on several objects', () => {
    const act = (position: number, id: string) => ({
      ...{ type: 'event', topic: 'audit-log', position },
      data: { position, object: { kind: 'token', id, name: '' } },
    })
    last().say(act(11, '1'), act(11, '2'))
    last().onclose?.()
    vi.advanceTimersByTime(500)
    last().onopen?.()
    last().say(act(11, '1'), act(11, '2'), act(11, '3'), act(12, '1'))
    expect(seen()).toEqual([11, 11, 11, 12])
  })

  it('passes on the results of channel tests as well as the changes of channels', () => {
    const data = { kind: 'test', channels: [], run: null }
    last().say({ type: 'event', topic: 'channels', position: 14, data }, channel(14, 1))
    expect(events).toMatchObject([
      { kind: 'event', topic: 'tests', position: 14, data },
      { kind: 'event', topic: 'channels', position: 14, data: { id: 1 } },
    ])
  })

  it('resumes from its start position if no event arrived before the disconnect', () => {
    last().onclose?.()
    vi.advanceTimersByTime(500)
    last().open(15)
    expect(last().sent[0]).toMatchObject({ after: 9 })
    expect(events).toEqual([])
  })

  it('waits longer after each failure, reports the retry time, and resets once live', () => {
    const waits: number[] = []
    for (let failures = 0; failures < 8; failures += 1) {
      last().onclose?.()
      const state = states.at(-1)
      if (state?.kind !== 'reconnecting') throw new Error(`state is ${state?.kind}`)
      waits.push(state.retryAt - 1_000_000)
      vi.advanceTimersByTime(30_000)
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    last().open(20)
    expect(states.at(-1)).toEqual({ kind: 'live' })
    last().onclose?.()
    expect(states.at(-1)).toEqual({ kind: 'reconnecting', retryAt: 1_000_500 })
  })

  it('reconnects at once on request', () => {
    last().onclose?.()
    live.retryNow()
    expect(sockets).toHaveLength(2)
  })

  it('passes on a resync, and the events after it', () => {
    last().say(log(11), { type: 'resync', topic: 'logs' }, log(900))
    expect(seen()).toEqual([11, 'resync logs', 900])
  })

  it('closes while offline or in the background, and resumes without a gap', () => {
    last().say(log(11))
    isOnline$.next(false)
    expect(last().isClosed).toBe(true)
    expect(states.at(-1)).toEqual({ kind: 'offline' })
    isOnline$.next(true)
    last().open(11)
    expect(last().sent[0]).toMatchObject({ after: 10 })
    isWatched$.next(false)
    expect(states.at(-1)).toEqual({ kind: 'background' })
    isWatched$.next(true)
    expect(sockets).toHaveLength(3)
  })

  it('pings while it is idle, and reconnects if the server stays silent', () => {
    vi.advanceTimersByTime(20_000)
    expect(last().sent.at(-1)).toEqual({ type: 'ping' })
    last().say({ type: 'pong' })
    vi.advanceTimersByTime(44_000)
    expect(last().isClosed).toBe(false)
    vi.advanceTimersByTime(1_000)
    expect(last().isClosed).toBe(true)
    expect(states.at(-1)?.kind).toBe('reconnecting')
  })

  it('closes 5 s after the last listener leaves, but not between two screens', () => {
    running.unsubscribe()
    vi.advanceTimersByTime(4_000)
    running = live.events$.subscribe()
    vi.advanceTimersByTime(10_000)
    expect(last().isClosed).toBe(false)
    running.unsubscribe()
    vi.advanceTimersByTime(5_000)
    expect(last().isClosed).toBe(true)
  })

  it('ignores malformed data, unknown messages and errors', () => {
    last().onmessage?.({ data: 'not json' })
    last().onmessage?.({ data: new Uint8Array() })
    last().say(null, 7, { type: 'unheard-of' }, { type: 'error', code: 'x', message: 'y' })
    expect(events).toEqual([])
  })
})
