import type { ReadDeps } from '../question.ts'
import { readItems } from './read-items.ts'
import { Ring } from './ring.ts'

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

const PAGE = 500
/** Those that the items are read from. */
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
  readonly ring: () => Ring
  /** Resolves once the ring stands where the read models are. */
  readonly ready: () => Promise<void>
  /** `wake` is called after the ring has grown, with what is of this user. Answers how to leave. */
  readonly join: (userId: number, wake: () => void) => () => void
  readonly stop: () => void
}

/**
 * Tails the read models of the log, the channels, the tokens and the users: one query for each per
 * advance, for all sockets. What it passes on is committed, and the same as REST answers.
 */
export function createHub(
  deps: Pick<ReadDeps, 'core' | 'freshness' | 'progress' | 'providerMessages'>,
): Hub {
  const { core, freshness } = deps
  const members = new Map<() => void, number>()
  let ring = new Ring(0)
  let isOpen = false
  let isStopped = false

  const target = (): number => Math.min(...READ_MODELS.map((name) => freshness.positionOf(name)))

  const readOn = async (): Promise<void> => {
    if (!isOpen) {
      ring = new Ring(target())
      isOpen = true
    }
    while (!isStopped && ring.upTo < target()) {
      const read = await readItems(deps, {
        after: ring.upTo,
        upTo: target(),
        limit: PAGE,
        hasChannels: true,
        hasUsers: true,
        inboxesOf: [...new Set(members.values())],
      })
      ring.extend(read.items, read.upTo)
      for (const wake of [...members.keys()]) wake()
    }
  }

  const tail = oneAtATime(readOn, (error) => {
    core.log.warn({ err: error }, 'the live socket could not read what is new')
  })

  const stopListening = freshness.onAdvance(() => {
    if (members.size > 0) void tail()
  })
  return {
    ring: () => ring,
    ready: tail,
    join: (userId, wake) => {
      members.set(wake, userId)
      return () => {
        members.delete(wake)
        // Nobody reads: what happens until somebody does is not kept.
        if (members.size === 0) isOpen = false
      }
    },
    stop: () => {
      isStopped = true
      stopListening()
    },
  }
}

/** Runs the work; a call that comes while it runs makes it run once more, for all who wait. */
function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null
  let isAgain = false
  return (): Promise<void> => {
    isAgain = true
    running ??= (async () => {
      while (isAgain) {
        isAgain = false
        await work().catch(onError)
      }
      running = null
    })()
    return running
  }
}
