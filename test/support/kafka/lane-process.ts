import { fileURLToPath } from 'node:url'
import { killChild, spawnNode } from '../child-process.ts'

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
  const child = spawnNode(PROGRAM, JSON.stringify(wanted))
  const lines: string[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    lines.push(...chunk.toString().split('\n').filter(Boolean))
  })
  return {
    lines,
    signal: (name) => void child.kill(name),
    kill: () => killChild(child),
  }
}
