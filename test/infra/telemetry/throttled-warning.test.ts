import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { warnThrottled } from '#infra/telemetry/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a repeated warning is logged at once, and then rarely with the number of repeats', () => {
  const lines: { msg: string; reason: string; suppressed?: number }[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  for (let tenths = 0; tenths < 150; tenths += 1) {
    warnThrottled(log, { reason: `no ${tenths}` }, 'the store is away')
    vi.advanceTimersByTime(100)
  }
  warnThrottled(log, { reason: 'other' }, 'the bus is away')
  expect(lines.map(({ msg, reason, suppressed }) => [msg, reason, suppressed])).toEqual([
    ['the store is away', 'no 0', undefined],
    ['the store is away', 'no 100', 99],
    ['the bus is away', 'other', undefined],
  ])
})
