import type { Core } from '#infra/core.ts'

const POLL_MS = 40
const IDLE_POLL_MS = 200
/** So long after news it is looked for often, though nothing moves. */
const AWAITING_MS = 2_000

export type Poller = {
  /** Somebody needs it, or something moved. */
  readonly lookSoon: () => void
  readonly stop: () => Promise<void>
}

export type PollerDeps = {
  /** Answers the lowest of the positions. */
  readonly poll: () => Promise<number>
  /** While false, it rests. */
  readonly isNeeded: () => boolean
}

/**
 * Looks where the read models are: often while they have not reached what the bus heard of, seldom
 * otherwise.
 */
export function createPoller(
  { bus, log }: Pick<Core, 'bus' | 'log'>,
  { poll, isNeeded }: PollerDeps,
): Poller {
  let timer: NodeJS.Timeout | null = null
  let dueAt = Number.POSITIVE_INFINITY
  let isPolling = false
  let isStopped = false
  let watch: ReturnType<Core['bus']['watch']> | null = null
  let heard = 0
  let awaitedUntil = 0

  const plan = (delayMs: number): void => {
    const at = performance.now() + delayMs
    // What is due sooner stays so: news without end put nothing off.
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
    const isAwaiting = lowest < heard && performance.now() < awaitedUntil
    plan(isAwaiting ? POLL_MS : IDLE_POLL_MS)
  }
  const lookSoon = (): void => {
    awaitedUntil = performance.now() + AWAITING_MS
    if (!isPolling && isNeeded()) plan(POLL_MS)
  }
  const onCommitted = (position: number): void => {
    heard = Math.max(heard, position)
    awaitedUntil = performance.now() + AWAITING_MS
    if (!isPolling) plan(POLL_MS)
  }
  return {
    lookSoon,
    stop: async () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await watch?.stop()
    },
  }
}
