import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

export type Finished = { readonly status: number | null; readonly output: string }

/**
 * The user and group ids under which a program runs. An empty object means the ids of the current
 * process.
 */
export type RunAs = { readonly uid?: number; readonly gid?: number }

/**
 * Runs a program. Returns its exit status and all of its output. The status is null if the program
 * can't be started or a signal ends it.
 */
export function runCommand(
  program: string,
  parameters: readonly string[],
  options: SpawnOptions,
): Promise<Finished> {
  return new Promise((resolve) => {
    let output = ''
    const child: ChildProcess = spawn(program, parameters, options)
    const collect = (chunk: Buffer): void => {
      output += chunk.toString()
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    child.on('error', (error) => resolve({ status: null, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

/**
 * Returns an environment without this process's variables, because a stray PGDATA or LC_ALL must
 * not affect Postgres.
 */
export const cleanEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
})
