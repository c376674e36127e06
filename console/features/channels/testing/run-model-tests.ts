import type { TestOutcome } from '#console/api/channels.ts'

export type ModelTestResults = ReadonlyMap<string, TestOutcome | 'running'>

export const withResult = (
  results: ModelTestResults,
  model: string,
  result: TestOutcome | 'running',
): ModelTestResults => new Map(results).set(model, result)

/**
 * Runs `perform` for each model, with at most `concurrencyMax` runs at the same time. After
 * `signal` is aborted, no other run starts.
 */
export async function runConcurrently(
  models: readonly string[],
  perform: (model: string) => Promise<void>,
  signal: AbortSignal,
  concurrencyMax = 3,
): Promise<void> {
  const queue = [...models]
  const runUntilEmpty = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (signal.aborted) return
      await perform(next)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, models.length) }, runUntilEmpty))
}
