import { sql } from 'slonik'
import { z } from 'zod'
import type { Core } from '#infra/core.ts'
import { wireInteger } from '#infra/postgres/row-types.ts'
import { PROJECTION_NAMES, type ProjectionName } from '../names.ts'
import { advanceSignal, type Positions } from './advance-signal.ts'

/** For those who name read models from outside. */
export type ReadModelName = ProjectionName

/** How far the read models are. Polls where no projections run in this process. */
export type Freshness = {
  /**
   * Resolves true once all the named read models include `position`, false after `timeoutMs`.
   */
  readonly waitFor: (
    names: readonly ProjectionName[],
    position: number,
    timeoutMs: number,
  ) => Promise<boolean>
  /** As last heard of; 0 before anything was. */
  readonly positionOf: (name: ProjectionName) => number
  /** Calls the listener after checkpoints have moved and committed. Answers how to stop. */
  readonly onAdvance: (listener: (positions: Positions) => void) => () => void
  /** Nobody is told any more; those who wait are answered false. */
  readonly stop: () => Promise<void>
}

const POLL_MS = 50

export function createFreshness(core: Core): Freshness {
  const known = new Map<ProjectionName, number>()
  const listeners = new Set<(positions: Positions) => void>()
  const stopped = new AbortController()
  const signal = advanceSignal(core.store)

  const learn = (positions: Positions): void => {
    const moved = [...positions].filter(([name, position]) => position > (known.get(name) ?? -1))
    if (moved.length === 0) return
    for (const [name, position] of moved) known.set(name, position)
    for (const listener of [...listeners]) listener(new Map(moved))
  }
  const unlisten = signal.listen(learn)
  const pollSoon = poller(core, stopped.signal, async () => {
    if (!signal.isFed() && listeners.size > 0) learn(await readPositions(core))
    return listeners.size > 0
  })
  const onAdvance: Freshness['onAdvance'] = (listener) => {
    listeners.add(listener)
    pollSoon()
    return () => listeners.delete(listener)
  }
  const positionOf = (name: ProjectionName): number => known.get(name) ?? 0
  return {
    positionOf,
    onAdvance,
    waitFor: (names, position, timeoutMs) => {
      const isThere = (): boolean => names.every((name) => positionOf(name) >= position)
      return waitUntil(isThere, onAdvance, timeoutMs, stopped.signal)
    },
    stop: async () => {
      stopped.abort()
      unlisten()
      listeners.clear()
    },
  }
}

/** Answers whether it became true before the time was over or everything stopped. */
function waitUntil(
  isThere: () => boolean,
  onAdvance: Freshness['onAdvance'],
  timeoutMs: number,
  stopped: AbortSignal,
): Promise<boolean> {
  if (isThere() || stopped.aborted) return Promise.resolve(isThere())
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      stopped.removeEventListener('abort', finish)
      stopListening()
      resolve(isThere())
    }
    const timer = setTimeout(finish, timeoutMs)
    stopped.addEventListener('abort', finish)
    const stopListening = onAdvance(() => {
      if (isThere()) finish()
    })
  })
}

/** Polls from when it is asked to until `poll` answers that nobody needs it. */
function poller(core: Core, stopped: AbortSignal, poll: () => Promise<boolean>): () => void {
  let timer: NodeJS.Timeout | null = null
  const run = async (): Promise<void> => {
    const isNeeded = await poll().catch((error: unknown) => {
      core.log.warn({ err: error }, 'the read models can not be asked how far they are')
      return true
    })
    timer = null
    if (isNeeded) pollSoon()
  }
  const pollSoon = (): void => {
    if (timer === null && !stopped.aborted) timer = setTimeout(run, POLL_MS).unref()
  }
  stopped.addEventListener('abort', () => {
    if (timer !== null) clearTimeout(timer)
  })
  return pollSoon
}

const checkpointRow = z.object({ name: z.enum(PROJECTION_NAMES), position: wireInteger })

async function readPositions(core: Core): Promise<Positions> {
  const rows = await core.db.any(sql.type(checkpointRow)`
    select name, position from projections.checkpoint where name not like '%:%'
  `)
  return new Map(rows.map(({ name, position }) => [name, position]))
}
