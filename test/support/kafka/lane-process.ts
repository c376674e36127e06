import { fileURLToPath } from 'node:url'
import { killChild, spawnNode } from '../child-process.ts'

const PROGRAM = fileURLToPath(new URL('lane-program.ts', import.meta.url))

export type LaneProcess = {
  /** The printed lines, one per reported event. */
  readonly lines: readonly string[]
  readonly signal: (name: NodeJS.Signals) => void
  readonly kill: () => Promise<void>
}

type LaneProcessOptions = {
  readonly databaseUrl: string
  readonly brokers: readonly string[]
  readonly topic: string
  /** The name of the worker. Without a worker, the process only publishes events to Kafka. */
  readonly work?: string
}

export async function startLaneProcess(options: LaneProcessOptions): Promise<LaneProcess> {
  const child = spawnNode(PROGRAM, JSON.stringify(options))
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
