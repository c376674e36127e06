import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

export type NodeChild = ChildProcessByStdio<null, Readable, Readable>

/**
 * Starts a Node program whose standard output the test reads. The program is killed when this
 * process exits. Standard error is not inherited, because a program that outlives its test would
 * keep the runner's pipe open.
 */
export function spawnNode(program: string, ...parameters: readonly string[]): NodeChild {
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.pipe(process.stderr, { end: false })
  const killOnExit = (): void => void child.kill('SIGKILL')
  process.on('exit', killOnExit)
  child.once('exit', () => process.off('exit', killOnExit))
  return child
}

/** Returns the first printed line. Throws if the program ends before it prints a line. */
export async function firstLine(child: NodeChild): Promise<string> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the program ended before it printed a line: ${signal ?? `exit ${code}`}`)
  })
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer]
  return String(line).trim()
}

export async function killChild(child: NodeChild): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
