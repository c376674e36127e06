import { AggregatorRegistry } from 'prom-client'
import type { Metrics } from './messages.ts'

/**
 * Metrics of many processes as one text. Each sample gets the label `process`, so that nothing is
 * added up that has no sum (positions, ages, versions): whoever reads them can do that.
 */
export function mergeMetrics(byProcess: ReadonlyMap<string, Metrics>): Promise<string> {
  const labelled = [...byProcess].map(([process, metrics]) =>
    metrics.map((metric) => ({
      ...metric,
      // With labels all different, a sum is the sample itself.
      aggregator: 'sum' as const,
      values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })),
    })),
  )
  return AggregatorRegistry.aggregate(labelled).metrics()
}
