import type { ChildProcess } from 'node:child_process'
import { AggregatorRegistry } from 'prom-client'
import type { Metrics, ToPrimary, ToWorker } from './messages.ts'

export type Gathering = {
  /** The metrics of the primary and of every worker that answers in time, as one text. */
  readonly everybodys: () => Promise<string>
  readonly take: (name: string, answer: OwnMetrics) => void
}

type OwnMetrics = Extract<ToPrimary, { readonly type: 'metrics-own' }>

const WITHIN_MS = 2_000

/** Asks the workers of `live`, as they are at that moment. */
export function createGathering(
  live: ReadonlyMap<string, ChildProcess>,
  ownMetrics: () => Promise<Metrics>,
): Gathering {
  const waiting = new Map<number, (name: string, metrics: Metrics) => void>()
  let questions = 0
  const ask = (question: number): Promise<Map<string, Metrics>> =>
    new Promise((done) => {
      const answers = new Map<string, Metrics>()
      const asked = [...live.values()].filter((worker) => worker.connected)
      const finish = (): void => {
        clearTimeout(late)
        waiting.delete(question)
        done(answers)
      }
      const late = setTimeout(finish, WITHIN_MS)
      waiting.set(question, (name, metrics) => {
        answers.set(name, metrics)
        if (answers.size >= asked.length) finish()
      })
      const message: ToWorker = { type: 'metrics-wanted', question }
      for (const worker of asked) worker.send(message)
    })
  return {
    take: (name, { question, metrics }) => waiting.get(question)?.(name, metrics),
    everybodys: async () => {
      questions += 1
      const [own, theirs] = await Promise.all([ownMetrics(), ask(questions)])
      return mergeMetrics(new Map([['primary', own], ...theirs]))
    },
  }
}

/**
 * Metrics of many processes as one text. Each sample gets the label `process`, so that nothing is
 * added up that has no sum (positions, ages, versions): whoever reads them can do that.
 */
function mergeMetrics(byProcess: ReadonlyMap<string, Metrics>): Promise<string> {
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
