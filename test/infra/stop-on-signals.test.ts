import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Started } from '#infra/start.ts'
import { stopOnSignals } from '#infra/stop-on-signals.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const never = new Promise<never>(() => {})

/** Simulates the process of a product that is starting or has started. */
function processOf(starting: Promise<Partial<Started>>) {
  const signals = new EventEmitter()
  const exit = vi.fn<(code: number) => void>()
  const aborting = new AbortController()
  stopOnSignals(starting as Promise<Started>, aborting, { on: signals.on.bind(signals), exit })
  return { signal: (name: NodeJS.Signals) => signals.emit(name), exit, aborting }
}

it.each([
  ['SIGTERM', 135_000],
  ['SIGHUP', 135_000],
  ['SIGINT', 25_000],
] as const)('%s: a stop that hangs exits with 1 after %i ms', async (name, boundMs) => {
  const { signal, exit } = processOf(Promise.resolve({ stop: () => never }))
  await vi.advanceTimersByTimeAsync(0)
  signal(name)
  await vi.advanceTimersByTimeAsync(boundMs - 1)
  expect(exit).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(exit.mock.calls).toEqual([[1]])
})

it('a second signal hurries the stop, and sets a new limit for a stop that hangs', async () => {
  const hurry = vi.fn<Started['hurry']>()
  const { signal, exit } = processOf(Promise.resolve({ stop: () => never, hurry }))
  await vi.advanceTimersByTimeAsync(0)
  signal('SIGTERM')
  await vi.advanceTimersByTimeAsync(1_000)
  signal('SIGINT')
  expect(hurry.mock.calls).toEqual([[10_000]])
  await vi.advanceTimersByTimeAsync(24_999)
  expect(exit).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(exit.mock.calls).toEqual([[1]])
})

it('a second SIGHUP, as from the same terminal, does not hurry the stop', async () => {
  const hurry = vi.fn<Started['hurry']>()
  const { signal } = processOf(Promise.resolve({ stop: () => never, hurry }))
  await vi.advanceTimersByTimeAsync(0)
  signal('SIGHUP')
  signal('SIGHUP')
  expect(hurry).not.toHaveBeenCalled()
  signal('SIGTERM')
  expect(hurry).toHaveBeenCalledOnce()
})

it('the process exits with 0 after a complete stop, and with 1 after a failed one', async () => {
  for (const [stop, code] of [
    [async () => {}, 0],
    [() => Promise.reject(new Error('fault')), 1],
  ] as const) {
    const { signal, exit } = processOf(Promise.resolve({ stop }))
    await vi.advanceTimersByTimeAsync(0)
    signal('SIGTERM')
    await vi.advanceTimersByTimeAsync(0)
    expect(exit.mock.calls).toEqual([[code]])
  }
})

it('a start that ignores its abort signal is abandoned after 10 s, with exit code 0', async () => {
  const { signal, exit, aborting } = processOf(never)
  signal('SIGTERM')
  expect(aborting.signal.aborted).toBe(true)
  await vi.advanceTimersByTimeAsync(9_999)
  expect(exit).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(exit.mock.calls).toEqual([[0]])
})
