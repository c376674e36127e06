import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

const TICKS_PER_SECOND = 100
const HEAP = join(import.meta.dirname, 'heap-as-started.ts')
/** The variables and options of `npm start`. */
export const AS_STARTED = {
  NODE_COMPILE_CACHE: 'node_modules/.cache/compiled',
  NODE_OPTIONS: `--max-semi-space-size=8 --import="${HEAP}"`,
}

const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/**
 * Starts a Node program on one core and waits for a line with its address. Without `taskset`, the
 * program may use every core.
 */
export async function startPinned(
  core: number,
  program: string,
  programArguments: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; pid: number; line: string }> {
  const command = [process.execPath, program, ...programArguments]
  const [file = '', ...rest] = hasTaskset ? ['taskset', '-c', String(core), ...command] : command
  const child = spawn(file, rest, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Standard error is not inherited, because a child that outlives the run would keep its pipe
  // open.
  child.stderr.pipe(process.stderr, { end: false })
  process.once('exit', () => child.kill('SIGKILL'))
  const line = await firstLine(child, program)
  return { child, pid: child.pid ?? 0, line }
}

function firstLine(child: ChildProcess, program: string): Promise<string> {
  return new Promise((done, failed) => {
    let text = ''
    child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes
      const ready = text.split('\n').find((line) => line.includes('http'))
      if (ready !== undefined && text.endsWith('\n')) done(ready)
    })
    child.on('exit', (code) => failed(new Error(`${program} ended (exit ${code}): ${text}`)))
  })
}

export function pinTo(core: number, pid: number): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-cp', String(core), String(pid)])
}

/** Lets the process and its descendants use every core. */
export function unpin(root: number): void {
  if (!hasTaskset) return
  for (const pid of [root, ...descendants(root)]) {
    spawnSync('taskset', ['-a', '-cp', `0-${cpus().length - 1}`, String(pid)])
  }
}

/**
 * Gives the processes precedence over all others. Otherwise, waiting for a core that other programs
 * use is measured, which takes longer than the work. Returns false, and changes nothing, if the
 * system does not allow it. `endPreference` ends it.
 */
export function preferOverOthers(pids: readonly number[]): boolean {
  const prefer = (pid: number) => spawnSync('chrt', ['-a', '-r', '-p', '10', String(pid)])
  if (pids.every((pid) => prefer(pid).status === 0)) return true
  endPreference(pids)
  return false
}

/** Gives the processes normal priority again, which processes that they start inherit. */
export function endPreference(pids: readonly number[]): void {
  for (const pid of pids) spawnSync('chrt', ['-a', '-o', '-p', '0', String(pid)])
}

function descendants(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (stat !== null) parents.set(Number(name), stat.parent)
  }
  const below = (pid: number): number[] =>
    [...parents].filter(([, parent]) => parent === pid).flatMap(([id]) => [id, ...below(id)])
  return below(root)
}

type Stat = { readonly parent: number; readonly ticks: number }

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // Includes the time of ended children.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    return { parent: Number(fields[1]), ticks }
  } catch {
    return null
  }
}

/**
 * Returns the CPU seconds (user and system) of a process and its descendants, except the trees in
 * `except`.
 */
export function cpuSeconds(root: number, except: readonly number[] = []): number {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (stat !== null) stats.set(Number(name), stat)
  }
  const sum = (pid: number): number => {
    if (except.includes(pid)) return 0
    const children = [...stats].filter(([, stat]) => stat.parent === pid)
    return (stats.get(pid)?.ticks ?? 0) + children.reduce((total, [child]) => total + sum(child), 0)
  }
  return sum(root) / TICKS_PER_SECOND
}
