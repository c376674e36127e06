import { setTimeout as delay } from 'node:timers/promises'
import type { CachedStream } from './cached-stream.ts'
import {
  answerBatch,
  type DecidedBatch,
  decideBatch,
  type PendingCommand,
} from './decide-command-batch.ts'
import { EVENTS_PER_APPEND_MAX, InvalidAppend } from './encoded-append.ts'
import { type EventStore, RevisionConflict } from './port.ts'

/**
 * The maximum number of attempts to write to a stream. An attempt fails if another process writes
 * to the stream first.
 */
export const TRIES_MAX = 200

/**
 * A period of exclusive access to a stream, which waits in the queue of the stream's actor. The
 * actor calls `take` when the period begins. `take` resolves when the period ends, and never
 * rejects.
 */
export type Turn = { readonly take: () => Promise<void> }

export type StreamActor = {
  readonly cached: CachedStream
  readonly isIdle: () => boolean
  readonly command: (pending: PendingCommand) => void
  readonly turn: (turn: Turn) => void
}

type Options = {
  readonly store: EventStore
  /**
   * Called after each batch of commands whose events, if there are any, have been appended. At this
   * time, the state in `cached` includes no event that is not stored. Not called if the append
   * failed or `evolve` threw.
   */
  readonly onWritten: (cached: CachedStream) => void
  readonly onIdle: () => void
}

/**
 * Creates the actor of one stream. Consecutive commands are written as one append, and only one
 * append is in flight at a time.
 */
export function createStreamActor(cached: CachedStream, options: Options): StreamActor {
  let waiting: (PendingCommand | Turn)[] = []
  let isRunning = false

  const takeCommands = (): PendingCommand[] => {
    const end = waiting.findIndex((item) => 'take' in item)
    const batch = waiting.splice(0, Math.min(end < 0 ? waiting.length : end, EVENTS_PER_APPEND_MAX))
    return batch.filter((item): item is PendingCommand => !('take' in item))
  }
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const [next] = waiting
      if (next !== undefined && 'take' in next) {
        waiting.shift()
        await next.take()
      } else {
        const rest = await execute(cached, takeCommands(), options)
        if (rest.length > 0) waiting = [...rest, ...waiting]
      }
    }
    isRunning = false
    options.onIdle()
  }
  const add = (item: PendingCommand | Turn): void => {
    waiting.push(item)
    if (isRunning) return
    isRunning = true
    void run()
  }
  return { cached, isIdle: () => !isRunning, command: add, turn: add }
}

/**
 * Decides the commands and writes their events. Returns the commands that are left for the next
 * append.
 */
async function execute(
  cached: CachedStream,
  commands: readonly PendingCommand[],
  options: Options,
): Promise<readonly PendingCommand[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const open = commands.filter(({ isOver }) => !isOver)
      const batch = await decideAndAppend(cached, open, options.store)
      if (batch === null) continue
      if (batch.isBroken) cached.forget()
      else options.onWritten(cached)
      return batch.rest
    } catch (error) {
      if (error instanceof RevisionConflict && attempt < TRIES_MAX) {
        cached.revertToStored()
        await pauseAfterConflict(attempt)
        continue
      }
      cached.forget()
      if (error instanceof InvalidAppend && commands.length > 1) {
        return await executeHalves(cached, commands, options)
      }
      for (const { reject } of commands) reject(error)
      return []
    }
  }
}

/** Retries the halves of a batch that is too large or has a faulty command. */
async function executeHalves(
  cached: CachedStream,
  commands: readonly PendingCommand[],
  options: Options,
): Promise<readonly PendingCommand[]> {
  const middle = Math.ceil(commands.length / 2)
  const rest = await execute(cached, commands.slice(0, middle), options)
  const later = commands.slice(middle)
  return rest.length > 0 ? [...rest, ...later] : await execute(cached, later, options)
}

/**
 * Decides the commands and appends their events. Returns null for a retry if the cached state was
 * outdated.
 */
async function decideAndAppend(
  cached: CachedStream,
  commands: readonly PendingCommand[],
  store: EventStore,
): Promise<DecidedBatch | null> {
  const isFresh = !cached.isLoaded() || cached.isOld()
  if (isFresh) await cached.catchUp()
  const batch = decideBatch(cached, commands)
  if (batch.events.length === 0) {
    if (batch.isBroken) {
      return { ...batch, decided: [], rest: commands.filter(({ isOver }) => !isOver) }
    }
    // Without an append, only a read can show whether the state is up to date.
    if (!isFresh && batch.decided.length > 0 && (await cached.catchUp())) return null
    answerBatch(batch, cached, null)
    return batch
  }
  const sentAt = performance.now()
  const appended = await store.append([
    { stream: cached.stream, expected: expectedOf(cached), events: batch.events },
  ])
  const revision = appended.streams[0]?.revision ?? cached.revision()
  cached.moveTo(revision, appended.position, sentAt)
  answerBatch(batch, cached, appended)
  return batch
}

export const expectedOf = (cached: CachedStream): number | 'none' =>
  cached.revision() < 0 ? 'none' : cached.revision()

/** Waits for a random time, because two processes with equal delays would conflict repeatedly. */
export const pauseAfterConflict = (attempt: number): Promise<void> =>
  delay(Math.random() * Math.min(2 ** attempt, 16))
