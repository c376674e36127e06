import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { ChannelTestResult } from '#relay/channel-actions/send-channel-test.ts'
import {
  applyTestResult,
  SCHEDULER,
  SlowTestCounts,
} from '#relay/channel-health/apply-test-result.ts'
import { startTestSchedule } from '#relay/channel-health/schedule-channel-tests.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { leasesOfOne } from '#test/support/single-process-leases.ts'

const log = pino({ level: 'silent' })

/** What a test led to, of a channel that is on, under options as given. */
function judged(
  result: Partial<ChannelTestResult>,
  given: {
    isEnabled?: boolean
    isDisabling?: boolean
    isReenabling?: boolean
    actor?: string
    slowTests?: SlowTestCounts
  } = {},
): string[] {
  const { isEnabled = true, isDisabling = true, isReenabling = true, actor = SCHEDULER } = given
  const slowTests = given.slowTests ?? new SlowTestCounts()
  const reports: string[] = []
  const disable = { isEnabled: isDisabling, isReenabling }
  const parts = {
    log,
    now: Date.now,
    views: { options: { options: { health: { disable, testMsMax: 5_000, slowTestsMax: 3 } } } },
    slowTests,
    breaker: {
      noteTest: ({ channelId, model }: { channelId: number; model: string }) =>
        reports.push(`well ${channelId} ${model}`),
    },
    autoDisable: {
      note: () => reports.push('failed'),
      disableChannel: (_channel: unknown, reason: string) => reports.push(`off ${reason}`),
    },
    actors: {
      handle: async (_decider: unknown, _stream: string, { type }: { type: string }) =>
        reports.push(type),
    },
  } as unknown as RelayDeps & { slowTests: SlowTestCounts }
  const channel = {
    channelId: 4,
    isEnabled,
    keys: [{ keyRef: 'ref' }],
    terms: { modelPrefix: 'eu/' },
  } as unknown as RelayChannel
  const test = { isSuccess: true, model: 'm', durationMs: 900, reason: '', end: null, position: 1 }
  applyTestResult(parts, channel, { ...test, ...result } as ChannelTestResult, {
    actor,
    cause: null,
  })
  return reports
}

const WELL = 'well 4 eu/m'
const failed = { isSuccess: false, end: {} as ChannelTestResult['end'] }

describe('result of a channel test', () => {
  it('closes circuits after a successful test and changes nothing else', () => {
    expect(judged({})).toEqual([WELL])
    expect(judged({ durationMs: 9_000 }, { actor: 'user:1' })).toEqual([WELL])
    expect(judged({}, { actor: 'user:1', isEnabled: false })).toEqual([WELL])
  })

  it('turns the channel off after the third consecutive slow scheduled test, not before', () => {
    const slowTests = new SlowTestCounts()
    const tested = (durationMs: number, actor = SCHEDULER) =>
      judged({ durationMs }, { slowTests, actor })
    expect([tested(5_001), tested(5_001)]).toEqual([[WELL], [WELL]])
    expect(tested(5_000)).toEqual([WELL])
    expect([tested(5_001), tested(5_001), tested(5_001, 'user:1')]).toEqual([
      [WELL],
      [WELL],
      [WELL],
    ])
    expect(tested(5_001)).toEqual([WELL, 'off slow'])
    expect(tested(5_001)).toEqual([WELL])
  })

  it('never turns a slow channel off where the option is not set', () => {
    const slowTests = new SlowTestCounts()
    const given = { slowTests, isDisabling: false }
    const led = [1, 2, 3, 4].map(() => judged({ durationMs: 5_001 }, given))
    expect(led).toEqual([[WELL], [WELL], [WELL], [WELL]])
  })

  it('turns an automatically disabled channel on again after a good scheduled test', () => {
    expect(judged({}, { isEnabled: false })).toEqual([WELL, 'AutoEnableChannel'])
    expect(judged({}, { isEnabled: false, isReenabling: false })).toEqual([WELL])
    expect(judged({ durationMs: 5_001 }, { isEnabled: false })).toEqual([WELL])
    expect(judged(failed, { isEnabled: false })).toEqual([])
  })

  it('counts a failed scheduled test towards turning the channel off', () => {
    expect(judged(failed)).toEqual(['failed'])
    expect(judged(failed, { actor: 'user:1' })).toEqual([])
  })
})

describe('test schedule', () => {
  it('starts a run when one is due, and none while the options turn it off', async () => {
    const tests: { everyMs: number | null } = { everyMs: null }
    const views = { options: { options: { health: { tests } } } }
    let lastRunAt = 0
    const started: string[] = []
    let looks = 0
    const schedule = startTestSchedule({
      log,
      leases: leasesOfOne,
      now: () => 1_000_000,
      views: views as unknown as RelayDeps['views'],
      lookMs: 5,
      lastRunAt: async () => {
        looks += 1
        return lastRunAt
      },
      runs: {
        start: async ({ actor }) => {
          started.push(actor)
          lastRunAt = 1_000
          return null
        },
      },
    })
    tests.everyMs = 60_000
    await expect.poll(() => started).toEqual([SCHEDULER])
    const before = looks
    await expect.poll(() => looks).toBeGreaterThan(before + 3)
    expect(started).toEqual([SCHEDULER])
    await schedule.stop()
  })
})
