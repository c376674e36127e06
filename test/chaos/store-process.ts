import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type StoreProcess = {
  readonly url: string
  readonly kill: () => Promise<void>
  /** On the same data and port. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The stand-in for EventStoreDB, in a process that can be killed without losing what it took. */
export async function startStoreProcess(): Promise<StoreProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-store-'))
  let child: ChildProcess
  const start = async (port: string): Promise<string> => {
    const program = 'test/support/event-store-db/server-program.ts'
    const given = ['--file', join(folder, 'events'), '--port', port]
    child = spawn(process.execPath, [program, ...given], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (child.stdout === null) throw new Error('no output of the store')
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return String(line).trim()
  }
  const url = await start('0')
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url,
    kill,
    restart: async () => {
      await kill()
      await start(/:(\d+)/.exec(url.slice('esdb://'.length))?.[1] ?? '')
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
