import type { TestOutcome } from '#console/api/channels.ts'

export type TestResults = ReadonlyMap<string, TestOutcome | 'running'>

export const withResult = (
  results: TestResults,
  model: string,
  result: TestOutcome | 'running',
): TestResults => new Map(results).set(model, result)

export function foundModels(models: readonly string[], search: string): string[] {
  const needle = search.trim().toLowerCase()
  return models.filter((model) => model.toLowerCase().includes(needle))
}

/**
 * Runs `perform` for each model, with at most `concurrencyMax` runs at the same time. After
 * `signal` aborts, no further run starts.
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
