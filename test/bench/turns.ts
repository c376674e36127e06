import { setTimeout as delay } from 'node:timers/promises'

export type Turns = {
  /** Seconds that the first group has had so far. */
  readonly seconds: () => number
  readonly end: () => Promise<void>
}

const TURN_MS = 12

/**
 * Lets two groups of processes run in turn, never both: each then has every core to itself, as on
 * machines of its own. What one sends waits in the sockets' buffers for the other's turn.
 */
export function takeTurns(first: () => readonly number[], second: readonly number[]): Turns {
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
      // It ended meanwhile, as a vacuum of Postgres does.
    }
  }
}
