/**
 * Runs `work` on at most `atOnce` items at a time until the signal aborts. Returns the number of
 * items that were started.
 */
export async function runInParallel<T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<number> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const item = items[next] as T
      next += 1
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return next
}
