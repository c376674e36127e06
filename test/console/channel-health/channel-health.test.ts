import { describe, expect, it } from 'vitest'
import {
  compareHealth,
  healthBarEnd,
  healthKind,
  healthPoints,
  isUnhealthy,
  mergeHealthPush,
  successRate,
} from '#console/api/channel-health.ts'
import {
  durationText,
  rateText,
} from '#console/features/channel-health/format-durations-and-rates.ts'
import {
  groupEntries,
  spanText,
  summaryOf,
} from '#console/features/channel-health/timeline-entry-groups-and-texts.ts'
import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'
import { channelHealth, circuit, figures } from '../support/channel-health-samples.ts'

describe('the health state of a channel', () => {
  it('is the most severe state that applies', () => {
    const open = circuit({ state: 'open' })
    const kinds = [
      channelHealth({ status: 3, circuits: [open] }),
      channelHealth({ status: 2, circuits: [open] }),
      channelHealth({ circuits: [open] }),
      channelHealth({ circuits: [circuit({ state: 'half-open' })] }),
      channelHealth({ circuits: [circuit({ model: 'o3' })] }),
      channelHealth({
        figures: { m5: figures({ successes: 8, failures: 2 }), h1: null, d1: null },
      }),
      channelHealth({ figures: { m5: null, h1: null, d1: null } }),
      channelHealth({ figures: { m5: figures({}), h1: null, d1: null } }),
      channelHealth({}),
    ].map(healthKind)
    expect(kinds).toEqual([
      'autoDisabled',
      'disabled',
      'open',
      'halfOpen',
      'degraded',
      'failing',
      'idle',
      'healthy',
      'healthy',
    ])
  })

  it('sorts channels in trouble first, and the others by id', () => {
    const rows = [
      channelHealth({ id: 1 }),
      channelHealth({ id: 2, status: 2 }),
      channelHealth({ id: 3, circuits: [circuit({})] }),
      channelHealth({ id: 4, status: 3 }),
    ]
    expect(rows.toSorted(compareHealth).map(({ id }) => id)).toEqual([4, 3, 1, 2])
    expect(rows.filter(isUnhealthy).map(({ id }) => id)).toEqual([3, 4])
  })
})

describe('health figures', () => {
  it('have a gap, not a zero, where no call was tried', () => {
    expect(successRate(null)).toBeNull()
    const points = healthPoints(
      [
        [3_540, 3, 1],
        [0, 1, 0],
        [-60, 9, 9],
      ],
      healthBarEnd(3_599_000),
    )
    expect(points).toHaveLength(20)
    expect(points.at(-1)).toMatchObject({ rate: 0.75, tries: 4 })
    expect(points[0]).toMatchObject({ from: 0, tries: 1, rate: 1 })
    expect(points.slice(1, -1).every(({ rate }) => rate === null)).toBe(true)
  })

  it('never round a success rate below 100% up to 100%', () => {
    const number = new Intl.NumberFormat('en')
    expect(rateText(1, number)).toBe('100%')
    expect(rateText(9_999 / 10_000, number)).toBe('99.9%')
    expect(durationText(994, number)).toBe('994 ms')
    expect(durationText(996, number)).toBe('1 s')
    expect(durationText(12_300, number)).toBe('12 s')
  })
})

describe('a health update from the live stream', () => {
  const snapshot = { at: 10, channels: [channelHealth({ id: 1 }), channelHealth({ id: 2 })] }

  it('replaces and adds the channels that it contains, and removes deleted ones', () => {
    const changed = channelHealth({ id: 2, status: 3 })
    const added = channelHealth({ id: 9 })
    const push = { kind: 'health', at: 11, channels: [changed, added], removed: [1] } as const
    const next = mergeHealthPush(snapshot, { ...push, channels: [changed, added], removed: [1] })
    expect(next.channels).toEqual([changed, added])
  })

  it('does not overwrite a snapshot that was read later', () => {
    const old = { kind: 'health', at: 9, channels: [], removed: [1] } as const
    expect(mergeHealthPush(snapshot, { ...old, channels: [], removed: [1] })).toBe(snapshot)
  })
})

describe('the timeline of a channel', () => {
  const entry = (id: number, patch: Partial<TimelineEntry>): TimelineEntry => ({
    id,
    at: id * 60_000,
    kind: 'circuit-opened',
    by: null,
    model: null,
    ...patch,
  })
  const idsOf = (entries: readonly TimelineEntry[]) =>
    groupEntries(entries).map((group) => group.map(({ id }) => id))

  it('folds consecutive entries of one circuit, even if a test of its model is between', () => {
    const ofModel = { model: 'o3' }
    expect(
      idsOf([
        entry(9, {}),
        entry(8, { kind: 'circuit-half-opened' }),
        entry(7, ofModel),
        entry(6, { kind: 'tested', model: 'o3' }),
        entry(5, ofModel),
        entry(4, { ...ofModel, kind: 'circuit-half-opened' }),
        entry(3, { key: 0 }),
        entry(2, { key: 1 }),
        entry(1, { key: 1 }),
      ]),
    ).toEqual([[9, 8], [7, 5, 4], [6], [3], [2, 1]])
  })

  it('folds two circuits whose entries alternate into one line each', () => {
    const entries = Array.from({ length: 8 }, (_, index) =>
      entry(8 - index, { model: index % 2 === 0 ? 'o3' : 'gpt-4o' }),
    )
    expect(idsOf(entries)).toEqual([
      [8, 6, 4, 2],
      [7, 5, 3, 1],
    ])
  })

  it('ends every run where the state of the channel changed', () => {
    const ofModel = { model: 'o3' }
    const off = entry(3, { kind: 'auto-disabled' })
    expect(idsOf([entry(5, ofModel), entry(4, {}), off, entry(2, {}), entry(1, ofModel)])).toEqual([
      [5],
      [4],
      [3],
      [2],
      [1],
    ])
  })

  it('keeps an action of a person on a separate line', () => {
    const by = { id: 1, name: 'root' }
    const closed = entry(3, { kind: 'circuit-closed', reason: 'admin', by })
    expect(idsOf([entry(4, {}), closed, entry(2, {}), entry(1, {})])).toEqual([[4], [3], [2, 1]])
  })

  it('counts the openings in a run, and names its newest and oldest entry', () => {
    const group = [entry(3, {}), entry(2, { kind: 'circuit-closed' }), entry(1, {})] as const
    expect(summaryOf(group)).toEqual({ newest: group[0], oldest: group[2], openings: 2 })
  })

  it('shows a time span in its largest unit', () => {
    const minute = 60_000
    const spans = [0, 42_000, 22 * minute, 180 * minute, 3_000 * minute]
    expect(spans.map((span) => spanText(span, 'en'))).toEqual([
      '1 sec',
      '42 sec',
      '22 min',
      '3 hr',
      '2 days',
    ])
  })
})
