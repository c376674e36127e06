/**
 * The services that joint appends (appends to several streams) need because EventStoreDB has no
 * transactions over several streams: mutual exclusion, the position up to which joint appends are
 * complete, and a clock.
 */
export type Locks = {
  /**
   * Runs `work` while no other process has a lock on any of `names`. If the locks can't be acquired
   * within `withinMs` milliseconds, throws `LockTimeout` and does not run `work`.
   */
  together<T>(names: readonly string[], withinMs: number, work: () => Promise<T>): Promise<T>
  /** Runs `work` unless another process has this lock. Returns true if `work` ran. */
  alone(name: string, work: () => Promise<void>): Promise<boolean>
  /** Returns the position up to which all joint appends are complete, or 0 if none was stored. */
  completeUpTo(): Promise<number>
  setCompleteUpTo(position: number): Promise<void>
  /** Returns the time of the clock that all processes share, in Unix milliseconds. */
  now(): Promise<number>
  close(): Promise<void>
}

export class LockTimeout extends Error {
  constructor(names: readonly string[], cause: unknown) {
    super(`the streams ${names.join(', ')} could not be locked in time`, { cause })
    this.name = 'LockTimeout'
  }
}

/** Creates locks within one process, for tests. */
export function createMemoryLocks(): Locks {
  const held = new Set<string>()
  let waiting: (() => void)[] = []
  let completePosition = 0
  const release = (names: readonly string[]): void => {
    for (const name of names) held.delete(name)
    const all = waiting
    waiting = []
    for (const wake of all) wake()
  }
  return {
    together: async (names, withinMs, work) => {
      const deadline = performance.now() + withinMs
      while (names.some((name) => held.has(name))) {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) throw new LockTimeout(names, null)
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          setTimeout(resolve, leftMs).unref()
        })
      }
      for (const name of names) held.add(name)
      return await work().finally(() => release(names))
    },
    alone: async (name, work) => {
      if (held.has(name)) return false
      held.add(name)
      await work().finally(() => release([name]))
      return true
    },
    completeUpTo: async () => completePosition,
    setCompleteUpTo: async (position) => {
      completePosition = Math.max(completePosition, position)
    },
    now: async () => Date.now(),
    close: async () => {},
  }
}
