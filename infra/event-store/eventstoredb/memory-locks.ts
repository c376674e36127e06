import { type Locks, LockTimeout } from './locks.ts'

/** Locks of one process, for tests. Several stores of that process may share them. */
export function createMemoryLocks(): Locks {
  const held = new Set<string>()
  let waiting: (() => void)[] = []
  let healed = 0
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
    healedUpTo: async () => healed,
    setHealedUpTo: async (position) => {
      healed = Math.max(healed, position)
    },
    now: async () => Date.now(),
    close: async () => {},
  }
}
