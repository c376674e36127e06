import { describe, expect, it } from 'vitest'
import { DEFAULT_RANGE, logParams, NO_FILTERS } from '#console/features/usage-log/log-url-params.ts'
import {
  boundsBeforeEnd,
  boundsOf,
  isWithin,
  localTimeText,
  rangeText,
  readLocalTime,
  readRange,
  SPANS,
} from '#console/ui/time-range/time-range.ts'

const NOW = 1_763_712_345
const HOUR = 3_600

describe('a time range', () => {
  it('reads back from the URL as it was written', () => {
    const fixed = { kind: 'absolute', from: 10, to: 20 } as const
    for (const span of SPANS) expect(readRange(span)).toEqual({ kind: 'relative', span })
    expect(readRange(rangeText(fixed))).toEqual(fixed)
  })

  it.each(['', '25h', '20-10', '-5-10', '1-', '1e3-2e3', '123456789012-2', 'today '])(
    'cannot be read from %j',
    (text) => {
      expect(readRange(text)).toBeNull()
    },
  )

  it('lasts by default from midnight to one hour from now', () => {
    const { from, to } = boundsOf(DEFAULT_RANGE, NOW)
    const midnight = new Date(NOW * 1000).setHours(0, 0, 0, 0) / 1000
    expect([from, to]).toEqual([midnight, NOW + HOUR])
  })

  it('moves with the clock when relative, stays when absolute, and has no bounds for all', () => {
    const bounds = (text: string) => boundsOf(readRange(text) ?? DEFAULT_RANGE, NOW)
    expect(bounds('24h')).toEqual({ from: NOW - 24 * HOUR, to: NOW + HOUR })
    expect(bounds('5-9')).toEqual({ from: 5, to: 9 })
    expect(bounds('all')).toEqual({ from: null, to: null })
  })

  it('ends one second later for requests that leave out their last second', () => {
    const bounds = (text: string) => boundsBeforeEnd(readRange(text) ?? DEFAULT_RANGE, NOW)
    expect(bounds('5-9')).toEqual({ from: 5, to: 10 })
    expect(bounds('all')).toEqual({ from: null, to: null })
  })

  it('includes both of its bounds', () => {
    const ends = { from: 5, to: 9 }
    expect([4, 5, 9, 10].map((at) => isWithin(ends, at))).toEqual([false, true, true, false])
  })

  it('a date-time field reads the text that it shows, and rejects an invalid time', () => {
    const minute = NOW - (NOW % 60)
    expect(readLocalTime(localTimeText(minute))).toBe(minute)
    for (const text of ['', '2026-11-21', '2026-13-01T00:00', 'now']) {
      expect(readLocalTime(text)).toBeNull()
    }
  })
})

it('a relative range keeps its start while the user pages, and its end stays ahead', () => {
  const filters = { ...NO_FILTERS, range: { kind: 'relative', span: '24h' } } as const
  const begunAt = 1_800_000_000
  const ends = (now: number) => logParams(filters, now, begunAt)
  expect(ends(begunAt + 50).start_timestamp).toBe(begunAt - 86_400)
  expect(ends(begunAt + 50).end_timestamp).toBe(begunAt + 50 + 3_600)
})
