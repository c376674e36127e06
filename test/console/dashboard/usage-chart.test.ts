import { describe, expect, it } from 'vitest'
import { checklist } from '#console/features/dashboard/checklist.ts'
import { maskedKey, snippetOf } from '#console/features/dashboard/snippets.ts'
import { OTHERS, prepareUsageChart, SERIES_MAX } from '#console/features/dashboard/usage-chart.ts'

const HOUR = 3_600
const START = 1_763_708_400
const point = (hour: number, model_name: string, quota: number) => ({
  created_at: START + hour * HOUR,
  model_name,
  count: 1,
  quota,
  token_used: 10,
})
const ask = { from: START, to: START + 3 * HOUR, step: 'hour', measure: 'quota' } as const

describe('the chart, prepared', () => {
  it('has a bucket for every hour; one without a record is a gap, not a zero', () => {
    const chart = prepareUsageChart([point(0, 'a', 5), point(2, 'a', 0), point(2, 'b', 7)], ask)
    expect(chart.buckets.map(({ total }) => total)).toEqual([5n, null, 7n, null])
    expect(chart.buckets[2]?.values.get('a')).toBe(0n)
    expect(chart.buckets[0]?.values.has('b')).toBe(false)
  })

  it('adds up: series, buckets and total say the same', () => {
    const points = Array.from({ length: 40 }, (_, index) =>
      point(index % 4, `m${index % 9}`, index),
    )
    const chart = prepareUsageChart(points, ask)
    const sum = (values: readonly bigint[]) => values.reduce((all, value) => all + value, 0n)
    const whole = BigInt((40 * 39) / 2)
    expect(chart.total).toBe(whole)
    expect(sum(chart.series.map(({ total }) => total))).toBe(whole)
    expect(sum(chart.buckets.map(({ total }) => total ?? 0n))).toBe(whole)
    expect(chart.series).toHaveLength(SERIES_MAX)
    expect(chart.series.at(-1)?.model).toBe(OTHERS)
  })

  it('puts the largest series first, and names the peak', () => {
    const chart = prepareUsageChart([point(0, 'a', 5), point(1, 'b', 9)], ask)
    expect(chart.series.map(({ model }) => model)).toEqual(['b', 'a'])
    expect(chart.peak?.at).toBe(START + HOUR)
  })

  it('names no series that adds nothing, unless all are so', () => {
    const names = (points: ReturnType<typeof point>[]) =>
      prepareUsageChart(points, ask).series.map(({ model }) => model)
    expect(names([point(0, 'paid', 5), point(0, 'failed', 0)])).toEqual(['paid'])
    expect(names([point(0, 'free', 0), point(1, 'failed', 0)])).toEqual(['failed', 'free'])
  })

  it('leaves out what lies outside the range, and survives names of objects', () => {
    const chart = prepareUsageChart([point(-5, 'a', 5), point(0, 'constructor', 3)], ask)
    expect(chart.series).toEqual([{ model: 'constructor', total: 3n }])
  })

  it('has one bucket per calendar day, in order', () => {
    const chart = prepareUsageChart([], { ...ask, to: START + 9 * 24 * HOUR, step: 'day' })
    expect(chart.buckets).toHaveLength(10)
    expect(chart.buckets.map(({ at }) => at)).toEqual(
      chart.buckets.map(({ at }) => at).toSorted((a, b) => a - b),
    )
  })
})

describe('the first run', () => {
  it('leads an admin from the channel to the call, others from the token', () => {
    const progress = { channels: 1, callableModels: 0, tokens: 0, calls: 0 }
    expect(
      checklist({ ...progress, isAdmin: true }).map(({ name, isNext }) => [name, isNext]),
    ).toEqual([
      ['channel', false],
      ['price', true],
      ['token', false],
      ['call', false],
    ])
    expect(checklist({ ...progress, isAdmin: false }).map(({ name }) => name)).toEqual([
      'token',
      'call',
    ])
  })

  it('shows keys masked, and quotes what a shell or a language would read', () => {
    expect(maskedKey('sk-abcdefghijklmnopqrstuvwx')).toBe('sk-ab…uvwx')
    const given = { address: 'http://127.0.0.1:3000', key: 'sk-1', model: "it's" }
    expect(snippetOf('curl', given)).toContain("it'\\''s")
    expect(snippetOf('python', given)).toContain('model="it\'s"')
  })
})
