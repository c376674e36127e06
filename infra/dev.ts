import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * Runs the servers, and the console on port 5173. The servers restart when a source file changes.
 */
function dev(): void {
  const roles = 'write-api,read-api,projections,relay'
  const environment = { ...process.env, RUN_FROM_SOURCE: '1', ROLES: roles }
  const servers = run(['--watch', 'infra/main.ts'], environment)
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const console = run([vite, 'console', '--host', '127.0.0.1'], process.env)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      servers.kill(signal)
      console.kill(signal)
    })
  }
}

const run = (parameters: string[], environment: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, parameters, { cwd: ROOT, env: environment, stdio: 'inherit' })

dev()
