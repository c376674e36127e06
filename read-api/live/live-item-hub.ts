import type { ReadDeps } from '../route.ts'
import { LiveBuffer } from './live-buffer.ts'
import { readItems } from './read-live-items.ts'

const INTERVAL_MS = 1_000
/**
 * The pause after each run is this many times as long as the run, so that the runs use at most a
 * tenth of the time.
 */
const PAUSE_FACTOR = 10

/**
 * Runs the work about once a second. Runs never overlap. Returns a function that stops the runs.
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
/** The read models from which the items are read. */
const READ_MODELS = [
  'call-log',
  'channels',
  'channel-checks',
  'tokens',
  'balances',
  'messages',
  'tasks',
  'users',
] as const

export type Hub = {
  readonly buffer: () => LiveBuffer
  /** Resolves when the buffer contains all items up to the positions of the read models. */
  readonly ready: () => Promise<void>
  /**
   * Registers a socket. `wake` is called when the buffer has grown. Returns a function that removes
   * the socket.
   */
  readonly join: (userId: number, wake: () => void) => () => void
  readonly stop: () => void
}

/**
 * Creates the hub, which reads new items from the read models once for all sockets. Items are
 * committed and equal the data of the REST responses.
 */
export function createHub(
  deps: Pick<ReadDeps, 'core' | 'freshness' | 'progress' | 'providerMessages'>,
): Hub {
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
        inboxesOf: [...new Set(members.values())],
      })
      buffer.extend(read.items, read.upTo)
      for (const wake of [...members.keys()]) wake()
    }
  }

  const tail = coalesce(readNew, (error) => {
    core.log.warn({ err: error }, 'reading new items for the live sockets failed')
  })

  const stopListening = freshness.onAdvance(() => {
    if (members.size > 0) void tail()
  })
  return {
    buffer: () => buffer,
    ready: tail,
    join: (userId, wake) => {
      members.set(wake, userId)
      return () => {
        members.delete(wake)
        // Without sockets, nothing is buffered until the next socket joins.
        if (members.size === 0) isOpen = false
      }
    },
    stop: () => {
      isStopped = true
      stopListening()
    },
  }
}

/** Returns a function that runs the work. All calls during a run together cause one further run. */
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
