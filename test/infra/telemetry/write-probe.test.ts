import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { EventStore } from '#infra/event-store/port.ts'
import { type WriteProbe, withStoreProbe } from '#infra/telemetry/write-probe.ts'

let isStoreDown: boolean
let appends: number
let failures: number
let probe: WriteProbe

beforeEach(() => {
  vi.useFakeTimers()
  isStoreDown = false
  appends = 0
  failures = 0
  const disk: WriteProbe = { problem: async () => null, isWritable: () => true, stop: () => {} }
  const probeAppend = async (): Promise<void> => {
    appends += 1
    if (!isStoreDown) return
    failures += 1
    throw new Error('the store is down')
  }
  probe = withStoreProbe(disk, { probeAppend } as unknown as EventStore)
})

afterEach(() => {
  probe.stop()
  vi.useRealTimers()
})

it('after a failed probe of an idle process, calls are accepted once writes succeed', async () => {
  await vi.advanceTimersByTimeAsync(20_000)
  isStoreDown = true
  for (let seconds = 0; failures === 0 && seconds < 130; seconds += 1) {
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(failures).toBeGreaterThan(0)
  isStoreDown = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(probe.isWritable()).toBe(true)
})

it('a process that has written again after a failure probes once a minute while idle', async () => {
  isStoreDown = true
  await vi.advanceTimersByTimeAsync(20_000)
  expect(failures).toBeGreaterThan(10)
  isStoreDown = false
  await vi.advanceTimersByTimeAsync(5_000)
  const before = appends
  await vi.advanceTimersByTimeAsync(180_000)
  expect(appends - before).toBeLessThanOrEqual(3)
})
