import type { Logger } from 'pino'
import type { Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { DeadlineTimer } from './pipeline/call-deadlines-and-timer.ts'
import type { RunningCall } from './pipeline/running-call.ts'
import type { UnorderedList } from './unordered-list.ts'

/** The name of the gauge that shows the running calls per channel on the health page. */
const IN_FLIGHT = 'calls-in-flight'

const EVERY_MS = 1_000
/**
 * The interval at which unchanged counts are reported again, because a repeated report shows that
 * the relay is alive.
 */
const REPEAT_MS = 4_000
/**
 * The age at which a report is repeated. It is less than `REPEAT_MS`, because a report is complete
 * only some time after its timer has fired.
 */
const REPORT_AGAIN_MS = REPEAT_MS - EVERY_MS / 2
const NO_CALLS = JSON.stringify({})

type Deps = {
  readonly runningCalls: UnorderedList<RunningCall>
  readonly timer: Pick<DeadlineTimer, 'notifyOfFirstCall'>
  readonly gauges: Gauges
  readonly log: Logger
}

/**
 * Reports the running calls per channel once a second. While there are no calls, the reports are
 * `REPEAT_MS` apart, so that an idle relay rarely wakes up. The calls are counted here, so that the
 * code that handles calls maintains no counters. Returns a function that stops the reports.
 */
export function reportCallsInFlight({
  runningCalls,
  timer,
  gauges,
  log,
}: Deps): () => Promise<void> {
  let reported = ''
  let reportedAt = performance.now() - REPORT_AGAIN_MS
  let isReporting = false
  const report = async (): Promise<void> => {
    const counts = countsOf(runningCalls)
    const text = JSON.stringify(counts)
    if (isReporting || (text === reported && performance.now() - reportedAt < REPORT_AGAIN_MS))
      return
    isReporting = true
    try {
      await gauges.report(IN_FLIGHT, counts)
      reported = text
      reportedAt = performance.now()
    } catch (err) {
      log.debug({ err }, 'calls in flight could not be reported')
    } finally {
      isReporting = false
    }
  }
  let waiting: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let isStopped = false
  const reportIn = (waitMs: number): void => {
    clearTimeout(waiting)
    if (isStopped) return
    dueAt = performance.now() + waitMs
    waiting = setTimeout(() => {
      void report()
      reportIn(runningCalls.size === 0 && reported === NO_CALLS ? REPEAT_MS : EVERY_MS)
    }, waitMs).unref()
  }
  void report()
  reportIn(EVERY_MS)
  // Among short calls with pauses between them, each call is a first one. Such calls must not
  // postpone a report that is due within a second, because the report would then never be sent.
  timer.notifyOfFirstCall(() => {
    if (dueAt - performance.now() > EVERY_MS) reportIn(EVERY_MS)
  })
  return async () => {
    isStopped = true
    clearTimeout(waiting)
    await gauges.retire(IN_FLIGHT).catch(() => {})
  }
}

function countsOf(runningCalls: UnorderedList<RunningCall>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { member } of runningCalls) {
    const { channelUnderWay } = member
    if (channelUnderWay === null) continue
    counts[channelUnderWay] = (counts[channelUnderWay] ?? 0) + 1
  }
  return counts
}
