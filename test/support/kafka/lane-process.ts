import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('lane-program.ts', import.meta.url))

export type LaneProcess = {
  /** All it has printed: a line per thing that happened. */
  readonly lines: readonly string[]
  readonly signal: (name: NodeJS.Signals) => void
  /** With -9; waits until it is gone. */
  readonly kill: () => Promise<void>
}

type Wanted = {
  readonly databaseUrl: string
  readonly brokers: readonly string[]
  readonly topic: string
  /** The work to take part in; without it, it only publishes. */
  readonly work?: string
}

/** A process with a bus of its own; see `lane-program.ts` for what it prints. */
export async function startLaneProcess(wanted: Wanted): Promise<LaneProcess> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify(wanted)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  child.stdout?.on('data', (chunk: Buffer) => {
    lines.push(...chunk.toString().split('\n').filter(Boolean))
  })
  const onExit = (): void => void child.kill('SIGKILL')
  process.on('exit', onExit)
  return {
    lines,
    signal: (name) => void child.kill(name),
    kill: async () => {
      process.off('exit', onExit)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}
