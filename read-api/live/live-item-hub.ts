import type { Freshness } from '#projections/read-model-freshness/query.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { readItems } from './read-live-items.ts'
import { LiveBuffer } from './shared-live-buffer.ts'

const INTERVAL_MS = 1_000
/**
 * The minimum pause after a run, as a multiple of the run's duration. Runs therefore take at most
 * about a tenth of the time.
 */
const PAUSE_FACTOR = 10

/**
 * Runs `work` about once a second, or less often if a run takes longer than 0.1 s. A run starts
 * only after the previous run has ended. Returns a function that stops the runs.
 */
export function everySecond(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const schedule = (waitMs: number): void => {
    if (!isStopped) timer = setTimeout(() => void run(), waitMs).unref()
  }
  const run = async (): Promise<void> => {
    const startedAt = performance.now()
    await work().catch(onError)
    schedule(Math.max(INTERVAL_MS, (performance.now() - startedAt) * PAUSE_FACTOR))
  }
  schedule(INTERVAL_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

const BATCH_ROWS = 500
const READ_MODELS = [
  'call-log',
  'channels',
  'channel-checks',
  'tokens',
  'balances',
  'messages',
  'tasks',
  'users',
  'audit-log',
] as const

export type Hub = {
  readonly buffer: () => LiveBuffer
  /**
   * Reads new items into the buffer. Resolves when the buffer has all items up to the current
   * position of the read models, or when reading has failed.
   */
  readonly ready: () => Promise<void>
  /**
   * Adds a socket of a user. `wake` is called whenever the buffer has new items. Returns a function
   * that removes the socket.
   */
  readonly join: (userId: number, wake: () => void) => () => void
  readonly stop: () => void
}

type HubDeps = Pick<ReadDeps, 'core' | 'freshness' | 'progress' | 'providerMessages'>
type OnAdvance = Parameters<Freshness['onAdvance']>[0]

/**
 * Creates a hub, which reads new items from the read models once for all sockets. While there are
 * sockets, the hub calls `onAdvance` and reads new items whenever the read models have advanced.
 * Only committed changes become items. An item contains the same data as a response to a request.
 */
export function createHub(deps: HubDeps, onAdvance: OnAdvance): Hub {
  const { core, freshness } = deps
  const members = new Map<() => void, number>()
  let buffer = new LiveBuffer(0)
  let isOpen = false
  let isStopped = false

  const target = (): number => Math.min(...READ_MODELS.map((name) => freshness.positionOf(name)))

  const readNew = async (): Promise<void> => {
    if (!isOpen) {
      buffer = new LiveBuffer(target())
      isOpen = true
    }
    while (!isStopped && buffer.upTo < target()) {
      const read = await readItems(deps, {
        after: buffer.upTo,
        upTo: target(),
        limit: BATCH_ROWS,
        hasChannels: true,
        hasUsers: true,
        hasActs: true,
        inboxesOf: [...new Set(members.values())],
      })
      buffer.extend(read.items, read.upTo)
      for (const wake of [...members.keys()]) wake()
      if (read.items.some(({ isErasure = false }) => isErasure)) buffer.clear()
    }
  }

  const tail = coalesce(readNew, (error) => {
    core.log.warn({ err: error }, 'reading new items for the live sockets failed')
  })

  const following = onDemand(() =>
    freshness.onAdvance((positions) => {
      onAdvance(positions)
      void tail()
    }),
  )
  return {
    buffer: () => buffer,
    ready: tail,
    join: (userId, wake) => {
      members.set(wake, userId)
      following.start()
      return () => {
        members.delete(wake)
        if (members.size > 0) return
        // While there is no socket, no items are read. The next read starts with a new buffer.
        isOpen = false
        following.stop()
      }
    },
    stop: () => {
      isStopped = true
      following.stop()
    },
  }
}

/** Returns functions that start and stop some work. A start while the work runs has no effect. */
export function onDemand(begin: () => () => void) {
  let end: (() => void) | null = null
  return {
    start: (): void => {
      end ??= begin()
    },
    stop: (): void => {
      end?.()
      end = null
    },
  }
}

/**
 * Returns a function that runs `work`. If the returned function is called once or more while `work`
 * is running, `work` runs one more time after the current run.
 */
function coalesce(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null
  let isPending = false
  return (): Promise<void> => {
    isPending = true
    running ??= (async () => {
      while (isPending) {
        isPending = false
        await work().catch(onError)
      }
      running = null
    })()
    return running
  }
}
