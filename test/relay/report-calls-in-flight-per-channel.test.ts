import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DeadlineTimer } from '#relay/pipeline/call-deadlines-and-timer.ts'
import type { RunningCall } from '#relay/pipeline/running-call.ts'
import { reportCallsInFlight } from '#relay/report-calls-in-flight-per-channel.ts'
import { UnorderedList } from '#relay/unordered-list.ts'

const CHANNEL = 7
/** A relay whose last report is older than this many milliseconds no longer counts. */
const GAUGE_TTL_MS = 10_000
/** The longest time in milliseconds between two reports of an idle relay, which begins with 1 s. */
const GAP_MS_MAX = 5_000

let runningCalls: UnorderedList<RunningCall>
let timer: DeadlineTimer
let reports: { readonly at: number; readonly counts: Readonly<Record<string, number>> }[]
let stop: () => Promise<void>

beforeEach(() => {
  vi.useFakeTimers()
  runningCalls = new UnorderedList()
  timer = new DeadlineTimer()
  reports = []
  const gauges = {
    report: async (_name: string, counts: Readonly<Record<string, number>>) => {
      reports.push({ at: performance.now(), counts })
    },
    read: async () => [],
    retire: async () => {},
  }
  stop = reportCallsInFlight({ runningCalls, timer, gauges, log: pino({ enabled: false }) })
})

afterEach(async () => {
  await stop()
  timer.close()
  vi.useRealTimers()
})

/** Runs a call of this duration at the channel. */
async function runCall(durationMs: number): Promise<void> {
  const call = runningCalls.add({ channelUnderWay: CHANNEL } as unknown as RunningCall)
  const listener = timer.add({ onTick: () => true })
  await vi.advanceTimersByTimeAsync(durationMs)
  timer.remove(listener)
  runningCalls.remove(call)
}

/** Returns the longest time in milliseconds that passed between two reports. */
function longestGap(): number {
  const times = [...reports.map(({ at }) => at), performance.now()]
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)))
}

it.each([300, 500, 900])(
  'short calls that begin every %d ms do not put off the reports',
  async (everyMs) => {
    for (let ms = 0; ms < 3 * GAUGE_TTL_MS; ms += everyMs) {
      await runCall(50)
      await vi.advanceTimersByTimeAsync(everyMs - 50)
    }
    expect(longestGap()).toBeLessThanOrEqual(GAP_MS_MAX)
  },
)

it('the first call after an idle time is reported a second after its start', async () => {
  // The reports of an idle relay come at 1, 5, 9, 13, 17 and 21 s, so none is due within a second.
  await vi.advanceTimersByTimeAsync(17_500)
  const startedAt = performance.now()
  await runCall(1_500)
  const first = reports.find(({ counts }) => counts[CHANNEL] === 1)
  expect((first?.at ?? Number.POSITIVE_INFINITY) - startedAt).toBeLessThanOrEqual(1_000)
})

it('an idle relay reports only as often as its row must be renewed', async () => {
  await vi.advanceTimersByTimeAsync(40_000)
  expect(reports.length).toBeLessThanOrEqual(12)
  expect(longestGap()).toBeLessThanOrEqual(GAP_MS_MAX)
})
