import type { Core } from '#infra/core-dependencies.ts'

const POLL_MS = 40
const IDLE_POLL_MS = 200
/**
 * The time in milliseconds after each commit or call of `pollSoon` during which lagging positions
 * are polled every `POLL_MS`. Afterwards, they are polled every `IDLE_POLL_MS`.
 */
const AFTER_NEWS_MS = 2_000

export type Poller = {
  /**
   * Requests an early poll. It is called when a reader starts to wait or the runner's positions
   * change.
   */
  readonly pollSoon: () => void
  readonly stop: () => Promise<void>
}

export type PollerDeps = {
  /** Reads the positions of all read models and returns the lowest one. */
  readonly poll: () => Promise<number>
  /** Polling pauses while this function returns false. */
  readonly isNeeded: () => boolean
  /** Tells the processes that write read models that a reader waits in this process. */
  readonly notifyWriters: () => void
}

/**
 * Polls the positions of the read models. It polls more often while they lag behind the last commit
 * that the event bus has reported.
 */
export function createPoller(
  { bus, log }: Pick<Core, 'bus' | 'log'>,
  { poll, isNeeded, notifyWriters }: PollerDeps,
): Poller {
  let timer: NodeJS.Timeout | null = null
  let dueAt = Number.POSITIVE_INFINITY
  let isPolling = false
  let isStopped = false
  let watch: ReturnType<Core['bus']['watch']> | null = null
  let latestPosition = 0
  let awaitedUntil = 0

  const plan = (delayMs: number): void => {
    const at = performance.now() + delayMs
    // An earlier poll stays scheduled, because a series of commits could otherwise postpone polling
    // forever.
    if (isStopped || at >= dueAt) return
    if (timer !== null) clearTimeout(timer)
    dueAt = at
    timer = setTimeout(run, delayMs).unref()
  }
  const run = async (): Promise<void> => {
    timer = null
    dueAt = Number.POSITIVE_INFINITY
    if (isStopped) return
    if (!isNeeded()) {
      void watch?.stop()
      watch = null
      return
    }
    watch ??= bus.watch(onCommitted)
    isPolling = true
    const lowest = await poll().catch((err: unknown) => {
      log.warn({ err }, 'the read models can not be asked how far they are')
      return 0
    })
    isPolling = false
    const isAwaiting = lowest < latestPosition && performance.now() < awaitedUntil
    plan(isAwaiting ? POLL_MS : IDLE_POLL_MS)
  }
  const pollSoon = (): void => {
    awaitedUntil = performance.now() + AFTER_NEWS_MS
    if (!isNeeded()) return
    notifyWriters()
    if (!isPolling) plan(POLL_MS)
  }
  const onCommitted = (position: number): void => {
    latestPosition = Math.max(latestPosition, position)
    pollSoon()
  }
  return {
    pollSoon,
    stop: async () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await watch?.stop()
    },
  }
}
