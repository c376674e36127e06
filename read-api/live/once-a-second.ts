const EVERY_MS = 1_000
/** The work takes no more than a tenth of the time. */
const REST = 10

/** Does the work about once a second, never twice at once. Answers how to stop. */
export function onceASecond(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const later = (waitMs: number): void => {
    if (!isStopped) timer = setTimeout(() => void pass(), waitMs).unref()
  }
  const pass = async (): Promise<void> => {
    const startedAt = performance.now()
    await work().catch(onError)
    later(Math.max(EVERY_MS, (performance.now() - startedAt) * REST))
  }
  later(EVERY_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
