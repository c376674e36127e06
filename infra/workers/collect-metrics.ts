import type { ChildProcess } from 'node:child_process'
import { AggregatorRegistry } from 'prom-client'
import type { Metrics, ToPrimary, ToWorker } from './worker-messages.ts'

export type MetricsCollector = {
  /**
   * Returns the metrics of the primary process and of every worker that responds in time, as one
   * text.
   */
  readonly collectAll: () => Promise<string>
  readonly receive: (name: string, answer: ProcessMetrics) => void
}

type ProcessMetrics = Extract<ToPrimary, { readonly type: 'process-metrics' }>

const WITHIN_MS = 2_000

export function createMetricsCollector(
  live: ReadonlyMap<string, ChildProcess>,
  ownMetrics: () => Promise<Metrics>,
): MetricsCollector {
  const waiting = new Map<number, (name: string, metrics: Metrics) => void>()
  let requests = 0
  const request = (requestId: number): Promise<Map<string, Metrics>> =>
    new Promise((done) => {
      const answers = new Map<string, Metrics>()
      const requested = [...live.values()].filter((worker) => worker.connected)
      const finish = (): void => {
        clearTimeout(late)
        waiting.delete(requestId)
        done(answers)
      }
      const late = setTimeout(finish, WITHIN_MS)
      waiting.set(requestId, (name, metrics) => {
        answers.set(name, metrics)
        if (answers.size >= requested.length) finish()
      })
      const message: ToWorker = { type: 'process-metrics-request', requestId }
      for (const worker of requested) worker.send(message)
    })
  return {
    receive: (name, { requestId, metrics }) => waiting.get(requestId)?.(name, metrics),
    collectAll: async () => {
      requests += 1
      const [own, theirs] = await Promise.all([ownMetrics(), request(requests)])
      return mergeMetrics(new Map([['primary', own], ...theirs]))
    },
  }
}

/**
 * Merges the metrics of several processes, with the label `process` on each sample. Values are not
 * added up, because positions, ages and versions have no meaningful sum.
 */
function mergeMetrics(byProcess: ReadonlyMap<string, Metrics>): Promise<string> {
  const labelled = [...byProcess].map(([process, metrics]) =>
    metrics.map((metric) => ({
      ...metric,
      // No two samples have equal labels, so `sum` keeps each sample unchanged.
      aggregator: 'sum' as const,
      values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })),
    })),
  )
  return AggregatorRegistry.aggregate(labelled).metrics()
}
