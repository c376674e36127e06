import { expect, it } from 'vitest'
import {
  attemptBars,
  durationMs,
  retriesOf,
  shortDuration,
  tokensPerSecond,
} from '#console/features/usage-log/call-timing.ts'
import { logRow } from './fake-usage-log.ts'

const attempt = (channel: number, ms: number) => ({ channel, status: 200, error: null, ms })
const other = (...attempts: ReturnType<typeof attempt>[]) => ({
  admin_info: { use_channel: attempts.map(({ channel }) => channel), attempts },
})

it('the bars of attempts follow each other and fill the whole width', () => {
  const bars = attemptBars(other(attempt(2, 250), attempt(1, 750)))
  expect(bars.map(({ channel, start, length }) => [channel, start, length])).toEqual([
    [2, 0, 0.25],
    [1, 0.25, 0.75],
  ])
})

it('an attempt without a duration still has a bar, also when it is the only one', () => {
  expect(attemptBars(other(attempt(1, 0)))).toMatchObject([{ start: 0, length: 1 }])
})

it('users who are no admins get no attempts and no retry count', () => {
  expect(attemptBars({})).toEqual([])
  expect(retriesOf({})).toBe(0)
})

it('the first attempt does not count as a retry', () => {
  expect(retriesOf(other(attempt(1, 5)))).toBe(0)
  expect(retriesOf(other(attempt(1, 5), attempt(2, 5), attempt(3, 5)))).toBe(2)
})

it('a duration is shown with few digits', () => {
  expect([840.4, 999.4, 1_000, 3_240, 9_990, 62_400].map(shortDuration)).toEqual([
    '840 ms',
    '999 ms',
    '1.0 s',
    '3.2 s',
    '10.0 s',
    '62 s',
  ])
})

it('an interrupted call has no duration and no speed', () => {
  const row = logRow(1, { use_time: 75 })
  expect(durationMs(row, { end: 'done' })).toBe(75_000)
  expect(durationMs(row, { end: 'interrupted' })).toBeNull()
  expect(tokensPerSecond(row, { end: 'interrupted' })).toBeNull()
})
