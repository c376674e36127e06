import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

export type Finished = { readonly status: number | null; readonly output: string }

/** The system user to run as; empty for the current user. */
export type RunAs = { readonly uid?: number; readonly gid?: number }

/**
 * Runs a program to its end. `output` is everything it wrote. A missing program has status null.
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
 * Passes none of this process's variables to Postgres, because a stray PGDATA or LC_ALL must not
 * affect it.
 */
export const cleanEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
})
