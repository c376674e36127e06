import type { ParseArgsOptionsConfig } from 'node:util'
import type { Core } from '../core-dependencies.ts'
import { openSite } from './open-site.ts'

/** An error in the arguments of the command line. */
export class CommandError extends Error {}

export type Invocation = {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

export type Verb = {
  /** The verb with its arguments, for the usage. */
  readonly form: string
  readonly summary: string
  readonly help: string
  readonly options: ParseArgsOptionsConfig
  /** The number of arguments beside the options that the verb takes. */
  readonly argumentsMax: number
  /** Runs the verb and returns the exit code. Throws `CommandError` for wrong arguments. */
  readonly run: (invocation: Invocation) => Promise<number>
}

export const print = (text: string): void => {
  process.stdout.write(text)
}

export const printJson = (value: unknown): void => {
  const plain = (_: string, member: unknown) =>
    typeof member === 'bigint' ? Number(member) : member
  print(`${JSON.stringify(value, plain, 2)}\n`)
}

export const textOption = ({ values }: Invocation, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function positionOption(invocation: Invocation, name: string): number | undefined {
  const text = textOption(invocation, name)
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`--${name} must be a position above 0`)
  return Number(text)
}

/** Refuses a first position after the last event: an empty result would look like an answer. */
export function verifyPosition(name: string, position: number | undefined, last: number): void {
  if (position === undefined || position <= Math.max(1, last)) return
  throw new CommandError(`--${name} is ${position}, but the last event is at position ${last}`)
}

/** Shows the progress and the time that is left on a terminal; nothing if the output is a file. */
export function terminalProgress(): (stage: string, done: number, total: number) => void {
  const begins = new Map<string, number>()
  return (stage, done, total) => {
    if (!process.stderr.isTTY) return
    const begin = begins.get(stage) ?? performance.now()
    begins.set(stage, begin)
    const seconds = (performance.now() - begin) / 1_000
    const left = done > 0 ? Math.ceil((seconds / done) * (total - done)) : 0
    const share = total > 0 ? done / total : 1
    const bar = '#'.repeat(Math.round(share * 30)).padEnd(30, '.')
    const line = `${stage} [${bar}] ${Math.floor(share * 100)} %, ${left} s left`
    process.stderr.write(done >= total ? '\r\u001b[K' : `\r\u001b[K${line}`)
  }
}

/** Opens the site, runs `work` and closes it. */
export async function withSite<Result>(
  { environment, signal }: Invocation,
  work: (core: Core) => Promise<Result>,
): Promise<Result> {
  const { core, close } = await openSite(environment, signal)
  try {
    return await work(core)
  } finally {
    await close()
  }
}
