import { describe, expect, it } from 'vitest'
import {
  axisTicks,
  callBars,
  canCountCalls,
  planBars,
} from '#console/features/usage-log/call-chart-bars.ts'
import { NO_FILTERS } from '#console/features/usage-log/log-url-params.ts'

const HOUR = 3_600
const NOON = new Date(2026, 10, 21, 12, 20).getTime() / 1000
const point = (hoursAgo: number, model: string, count: number) => ({
  created_at: NOON - (NOON % HOUR) - hoursAgo * HOUR,
  model_name: model,
  count,
  quota: count * 10,
  token_used: 0,
})

describe('the bars of a time range', () => {
  it('cover the whole hours of today, up to the current one', () => {
    const plan = planBars({ kind: 'relative', span: 'today' }, NOON, 31)
    expect(plan).toMatchObject({ hours: 1 })
    const bars = callBars(
      [point(0, 'a', 2), point(0, 'b', 1), point(12, 'a', 4)],
      plan as never,
      '',
    )
    expect(bars).toHaveLength(13)
    expect(bars.at(-1)).toMatchObject({ count: 3, quota: 30n })
    expect(bars[0]).toMatchObject({ count: 4 })
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(7)
  })

  it('count only one model when the list is filtered by it', () => {
    const plan = planBars({ kind: 'relative', span: 'today' }, NOON, 31)
    const bars = callBars([point(0, 'a', 2), point(0, 'b', 1)], plan as never, 'b')
    expect(bars.at(-1)).toMatchObject({ count: 1 })
  })

  it.each(['24h', '7d', '30d'] as const)(
    'cover the range with at most as many bars as fit: %s',
    (span) => {
      for (const barsMax of [31, 16]) {
        const plan = planBars({ kind: 'relative', span }, NOON, barsMax)
        const bars = callBars([], plan as never, '')
        expect(bars.length).toBeGreaterThan(barsMax / 3)
        expect(bars.length).toBeLessThanOrEqual(barsMax)
        expect(bars[0]?.from).toBeLessThanOrEqual(NOON - { '24h': 24, '7d': 168, '30d': 720 }[span])
        expect(bars.at(-1)?.to).toBeGreaterThanOrEqual(NOON)
      }
    },
  )

  it('have axis labels at the first bar and then at equal distances', () => {
    const ticksOf = (span: 'today' | '24h' | '7d' | '30d', isWide: boolean) => {
      const plan = planBars({ kind: 'relative', span }, NOON, isWide ? 31 : 16)
      const bars = callBars([], plan as never, '')
      const ticks = axisTicks(bars, isWide)
      expect(ticks[0]?.index).toBe(0)
      expect(ticks.at(-1)?.index).toBe(bars.length - 1)
      return ticks.map(({ text }) => text)
    }
    const everyTwo = ['00:00', '02:00', '04:00', '06:00', '08:00', '10:00', '12:00']
    expect(ticksOf('today', true)).toEqual(everyTwo)
    expect(ticksOf('24h', false)).toHaveLength(5)
    expect(ticksOf('7d', true)).toHaveLength(5)
    expect(ticksOf('7d', true)[0]).toBe('11-14 12:00')
    expect(ticksOf('7d', false)).toHaveLength(3)
    expect(ticksOf('30d', true)).toHaveLength(7)
    expect(ticksOf('30d', true).at(-1)).toBe('11-21')
    const hours = Array.from({ length: 20 }, (_, index) => {
      const from = NOON - (NOON % HOUR) + (index - 12) * HOUR
      return { from, to: from + HOUR - 1 }
    })
    expect(axisTicks(hours, true).map(({ index }) => index)).toEqual([0, 4, 8, 12, 16])
    expect(axisTicks([{ from: NOON, to: NOON + HOUR - 1 }], true)).toHaveLength(1)
    expect(axisTicks([], true)).toEqual([])
  })

  it('are omitted when they would be useless or would differ from the list', () => {
    expect(planBars({ kind: 'relative', span: 'all' }, NOON, 31)).toBe(null)
    expect(planBars({ kind: 'absolute', from: 0, to: NOON }, NOON, 31)).toBe(null)
    const hour = NOON - (NOON % HOUR)
    expect(planBars({ kind: 'absolute', from: hour, to: hour + 60 }, NOON, 31)).toBe(null)
    expect(canCountCalls({ ...NO_FILTERS, model: 'a', username: 'b', type: 2 })).toBe(true)
    for (const filter of [{ token: 'a' }, { group: 'a' }, { channel: 1 }, { type: 6 }]) {
      expect(canCountCalls({ ...NO_FILTERS, ...filter })).toBe(false)
    }
  })
})
