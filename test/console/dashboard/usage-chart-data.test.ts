import { Subject } from 'rxjs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type CallsInSecond,
  callsBySecond,
  meanRate,
  peakOf,
} from '#console/features/dashboard/call-rate.ts'
import {
  extendToSteps,
  fittingStep,
  stepsFor,
  zoomFromUrl,
} from '#console/features/dashboard/chart-range.ts'
import { setupSteps } from '#console/features/dashboard/setup-steps.ts'
import {
  bucketEnd,
  bucketStart,
  OTHER_SERIES,
  prepareUsageChart,
  SERIES_MAX,
} from '#console/features/dashboard/usage-chart-data.ts'
import { tokenPoints } from '#console/features/dashboard/use-usage-points.ts'

const HOUR = 3_600
const START = 1_763_708_400
const point = (hour: number, series: string, quota: number) => ({
  created_at: START + hour * HOUR,
  series,
  count: 1,
  quota,
  token_used: 10,
})
const ask = { from: START, to: START + 3 * HOUR, step: 'hour', measure: 'quota' } as const

describe('the data of the usage chart', () => {
  it('has a bucket for every hour; an hour without a record is a gap, not a zero', () => {
    const chart = prepareUsageChart([point(0, 'a', 5), point(2, 'a', 0), point(2, 'b', 7)], ask)
    expect(chart.buckets.map(({ total }) => total)).toEqual([5n, null, 7n, null])
    expect(chart.buckets[2]?.values.get('a')).toBe(0n)
    expect(chart.buckets[0]?.values.has('b')).toBe(false)
  })

  it('has the same sum over its series, over its buckets and as its total', () => {
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
    expect(chart.series.at(-1)?.name).toBe(OTHER_SERIES)
  })

  it('has refunds of corrections in its total, also those of a series without charges', () => {
    const chart = prepareUsageChart([point(0, 'a', 5), point(1, 'b', -9), point(1, 'c', 0)], ask)
    expect(chart.total).toBe(-4n)
    expect(chart.series).toEqual([
      { name: 'a', total: 5n },
      { name: 'b', total: -9n },
    ])
  })

  it('lists the largest series first, and names the peak', () => {
    const chart = prepareUsageChart([point(0, 'a', 5), point(1, 'b', 9)], ask)
    expect(chart.series.map(({ name }) => name)).toEqual(['b', 'a'])
    expect(chart.peak?.at).toBe(START + HOUR)
  })

  it('omits series that add nothing, unless all series add nothing', () => {
    const names = (points: ReturnType<typeof point>[]) =>
      prepareUsageChart(points, ask).series.map(({ name }) => name)
    expect(names([point(0, 'paid', 5), point(0, 'failed', 0)])).toEqual(['paid'])
    expect(names([point(0, 'free', 0), point(1, 'failed', 0)])).toEqual(['failed', 'free'])
  })

  it('leaves out points outside the range, and accepts a series named constructor', () => {
    const chart = prepareUsageChart([point(-5, 'a', 5), point(0, 'constructor', 3)], ask)
    expect(chart.series).toEqual([{ name: 'constructor', total: 3n }])
  })

  it('has one bucket per calendar day, in order', () => {
    const chart = prepareUsageChart([], { ...ask, to: START + 9 * 24 * HOUR, step: 'day' })
    expect(chart.buckets).toHaveLength(10)
    expect(chart.buckets.map(({ at }) => at)).toEqual(
      chart.buckets.map(({ at }) => at).toSorted((a, b) => a - b),
    )
  })
})

describe('steps of the usage chart', () => {
  const DAY = 24 * HOUR

  it('weeks begin on Mondays, and UTC days at midnight UTC', () => {
    const week = { step: 'week', isUtc: true } as const
    const start = bucketStart(Date.UTC(2026, 10, 22, 13) / 1000, week)
    expect(new Date(start * 1000).toISOString()).toBe('2026-11-16T00:00:00.000Z')
    expect(bucketEnd(start, week) - start).toBe(7 * DAY)
    expect(bucketStart(START + 5, { step: 'day', isUtc: true }) % DAY).toBe(0)
  })

  it('the nearest fitting step avoids both a single bar and hundreds of bars', () => {
    expect([DAY, 7 * DAY, 30 * DAY, 90 * DAY].map((span) => stepsFor(span, false))).toEqual([
      ['hour'],
      ['hour', 'day'],
      ['day', 'week'],
      ['day', 'week'],
    ])
    expect([fittingStep('week', DAY, false), fittingStep('hour', 30 * DAY, false)]).toEqual([
      'hour',
      'day',
    ])
    expect(stepsFor(DAY, true)).toEqual(['day'])
  })

  it('a zoom covers whole steps, and a range that the server would refuse is ignored', () => {
    const [from, to] = [START + 60, START + 2 * HOUR + 5]
    const period = extendToSteps({ from, to }, { step: 'hour' })
    expect(period).toEqual({ from: START, to: START + 3 * HOUR - 1 })
    expect(zoomFromUrl({ from, to })).toEqual({ from, to })
    const bad = [
      { from: 0, to },
      { from: to, to: from },
      { from, to: from + 200 * DAY },
    ]
    expect(bad.map(zoomFromUrl)).toEqual([null, null, null])
  })

  it('tokens of the same name are distinguished by id; usage without a token is last', () => {
    const token = (token_id: number, token_name: string, quota: number) => ({
      ...{ token_id, token_name, quota },
      ...{ created_at: START, count: 1, token_used: 1 },
    })
    const points = tokenPoints([
      token(1, 'a', 1),
      token(2, 'a', 2),
      token(3, 'b', 3),
      token(0, '', 9),
    ])
    const names = prepareUsageChart(points, ask).series.map(({ name }) => name)
    expect(names).toEqual(['b', 'a #2', 'a #1', OTHER_SERIES])
  })
})

describe('the number of calls per second', () => {
  afterEach(() => void vi.useRealTimers())

  it('counts calls as they arrive, and has a gap where the connection missed some', () => {
    vi.useFakeTimers()
    const events$ = new Subject<never>()
    const state$ = new Subject<{ kind: 'live' | 'offline' }>()
    const updates: (readonly CallsInSecond[])[] = []
    const running = callsBySecond(events$, state$).subscribe((now) => updates.push(now))
    const call = (request_id: string) =>
      ({ kind: 'event', topic: 'logs', position: 1, data: { request_id } }) as never
    state$.next({ kind: 'live' })
    for (const id of ['r1', 'r2', '', 'r3']) events$.next(call(id))
    vi.advanceTimersByTime(2_000)
    events$.next({ kind: 'resync', topic: 'logs', position: null } as never)
    vi.advanceTimersByTime(1_000)
    state$.next({ kind: 'offline' })
    vi.advanceTimersByTime(1_000)
    running.unsubscribe()
    expect(updates.at(-1)).toEqual([3, 0, null, null])
    expect([meanRate([3, 0]), meanRate([3, 0, null]), peakOf([3, 0, null])]).toEqual([1.5, null, 3])
  })
})

describe('the setup guide of a new site', () => {
  it('leads an admin from the channel to the call, and other users from the token', () => {
    const progress = { channels: 1, callableModels: 0, tokens: 0, calls: 0 }
    expect(
      setupSteps({ ...progress, isAdmin: true }).map(({ name, isNext }) => [name, isNext]),
    ).toEqual([
      ['channel', false],
      ['price', true],
      ['token', false],
      ['call', false],
    ])
    expect(setupSteps({ ...progress, isAdmin: false }).map(({ name }) => name)).toEqual([
      'token',
      'call',
    ])
  })
})
