import { setTimeout as delay } from 'node:timers/promises'

export type AlternatingGroups = {
  /** Returns the seconds for which the first group has run. */
  readonly seconds: () => number
  readonly end: () => Promise<void>
}

const TURN_MS = 12

/**
 * Runs two groups of processes alternately, so that each has every core as on a separate machine.
 * Data between the groups waits in socket buffers.
 */
export function alternateGroups(
  first: () => readonly number[],
  second: readonly number[],
): AlternatingGroups {
  let isOver = false
  let ms = 0
  const run = async (): Promise<void> => {
    const own = first()
    while (!isOver) {
      signal(second, 'SIGSTOP')
      signal(own, 'SIGCONT')
      const from = performance.now()
      await delay(TURN_MS)
      signal(own, 'SIGSTOP')
      ms += performance.now() - from
      signal(second, 'SIGCONT')
      await delay(TURN_MS)
    }
    signal(own, 'SIGCONT')
  }
  const running = run()
  return {
    seconds: () => ms / 1_000,
    end: async () => {
      isOver = true
      await running
    },
  }
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended.
    }
  }
}
