import { stampText } from '#console/ui/elements/time-text.ts'
import type { HealthHistory, HealthHistoryPoint } from '#read-api/contract/channel-health.ts'

/**
 * The attempts to send calls to a channel during one time step of the chart. A value is null if
 * there is no data for it.
 */
export type HistoryStep = {
  readonly at: number
  readonly time: string
  readonly attempts: number
  readonly rate: number | null
  /** The latency percentiles are in milliseconds. */
  readonly p50: number | null
  readonly p95: number | null
}

export type History = {
  readonly steps: readonly HistoryStep[]
  readonly attempts: number
  /**
   * The share (0 to 1) of all attempts in the range that succeeded, or null if there were no
   * attempts.
   */
  readonly rate: number | null
  /**
   * The step with the lowest success rate, or null if no step has a rate. Among steps with the same
   * rate, the newest.
   */
  readonly lowest: HistoryStep | null
}

export function prepareHistory({ points, range }: HealthHistory): History {
  const timeText = (at: number) => stampText(at).slice(range === '7d' ? 5 : 11, 16)
  const steps = points.map((point) => stepOf(point, timeText(point.at)))
  const successes = points.reduce((sum, point) => sum + point.successes, 0)
  const attempts = steps.reduce((sum, step) => sum + step.attempts, 0)
  const lowest = steps.reduce<HistoryStep | null>(
    (worst, step) => (step.rate !== null && step.rate <= (worst?.rate ?? 1) ? step : worst),
    null,
  )
  return { steps, attempts, rate: attempts === 0 ? null : successes / attempts, lowest }
}

function stepOf(point: HealthHistoryPoint, time: string): HistoryStep {
  const { at, successes, failures, latency_ms: latency } = point
  const attempts = successes + failures
  return {
    at,
    time,
    attempts,
    rate: attempts === 0 ? null : successes / attempts,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
  }
}
