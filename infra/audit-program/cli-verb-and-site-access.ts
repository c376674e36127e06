import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ParseArgsOptionsConfig } from 'node:util'
import { userIdByName } from '#projections/users/query.ts'
import { ConfigError } from '../config/config-types.ts'
import { readConfig } from '../config/read-config.ts'
import { loadSecretKey } from '../config/secret-key.ts'
import type { Core } from '../core-dependencies.ts'
import { runningServer } from '../postgres/embedded-database-folder.ts'
import { type RunningCore, startCore } from '../start-core.ts'

/** Thrown for wrong arguments on the command line. */
export class CommandError extends Error {}

export type Invocation = {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

export type Verb = {
  /** The verb with the names of its arguments, for the usage text. */
  readonly form: string
  readonly summary: string
  readonly help: string
  readonly options: ParseArgsOptionsConfig
  /** The maximum number of positional arguments. */
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

/**
 * Throws `CommandError` if the position given by option `--name` is after the last event, because
 * an empty result would look like a valid answer. Position 1 is valid even if there are no events.
 */
export function verifyPosition(name: string, position: number | undefined, last: number): void {
  if (position === undefined || position <= Math.max(1, last)) return
  throw new CommandError(`--${name} is ${position}, but the last event is at position ${last}`)
}

/**
 * Returns a function that shows the progress and the remaining time on a terminal. The function
 * shows nothing if stderr is not a terminal.
 */
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

/** Opens the site, passes it to `work`, and closes it at the end. Returns the result of `work`. */
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

/**
 * Opens the site that the environment variables describe, as the server does: the database at
 * `DATABASE_URL`, or the one in `DATA_DIR`. If the site is running, its embedded Postgres is used.
 * If it is not running, the embedded Postgres is started, and runs until `close` is called. Throws
 * `ConfigError` if `DATA_DIR` contains no site.
 */
async function openSite(environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<RunningCore> {
  const config = readConfig({ LOG_LEVEL: 'error', ...environment })
  if (config.databaseUrl !== null) return await startCore(config, signal)
  const { dataDir } = config
  if (!existsSync(join(dataDir, 'postgres'))) {
    throw new ConfigError('DATA_DIR', `there is no site in ${dataDir}`)
  }
  const databaseUrl = runningServer(dataDir)
  if (databaseUrl === null) return await startCore(config, signal)
  return await startCore({ ...config, secretKey: loadSecretKey(config), databaseUrl }, signal)
}

/**
 * Returns the id of the user that `text` names. A number is returned as the id without a check.
 * Throws `CommandError` if no user has the name.
 */
export async function userIdIn({ db }: Pick<Core, 'db'>, text: string): Promise<number> {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  const userId = await userIdByName(db, text)
  if (userId === null) throw new CommandError(`there is no user with the name "${text}"`)
  return userId
}
