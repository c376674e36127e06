import { stampText } from '#console/ui/elements/time-text.ts'
import type { HealthHistory, HealthHistoryPoint } from '#read-api/contract/channel-health.ts'

/**
 * The attempts to send calls to a channel during one time step of the chart. A value is null if
 * there is no data.
 */
export type HistoryChartStep = {
  readonly at: number
  readonly time: string
  readonly attempts: number
  readonly successRate: number | null
  /**
   * The 50th percentile of the latency of attempts in milliseconds. `p95` is the 95th percentile.
   */
  readonly p50: number | null
  readonly p95: number | null
}

export type HistoryChartData = {
  readonly steps: readonly HistoryChartStep[]
  readonly attempts: number
  /**
   * The share (0 to 1) of successful attempts among all attempts in the range, or null if there
   * were no attempts.
   */
  readonly successRate: number | null
  /**
   * The step with the lowest success rate, or null if no step has a success rate. If several steps
   * have the lowest rate, this is the newest of them.
   */
  readonly lowestStep: HistoryChartStep | null
}

export function historyChartData({ points, range }: HealthHistory): HistoryChartData {
  const timeText = (at: number) => stampText(at).slice(range === '7d' ? 5 : 11, 16)
  const steps = points.map((point) => chartStepOf(point, timeText(point.at)))
  const successes = points.reduce((sum, point) => sum + point.successes, 0)
  const attempts = steps.reduce((sum, step) => sum + step.attempts, 0)
  const lowestStep = steps.reduce<HistoryChartStep | null>(
    (worst, step) =>
      step.successRate !== null && step.successRate <= (worst?.successRate ?? 1) ? step : worst,
    null,
  )
  return { steps, attempts, successRate: attempts === 0 ? null : successes / attempts, lowestStep }
}

function chartStepOf(point: HealthHistoryPoint, time: string): HistoryChartStep {
  const { at, successes, failures, latency_ms: latency } = point
  const attempts = successes + failures
  return {
    at,
    time,
    attempts,
    successRate: attempts === 0 ? null : successes / attempts,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
  }
}
