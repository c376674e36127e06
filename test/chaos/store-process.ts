import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstLine, killChild, type NodeChild, spawnNode } from '#test/support/child-process.ts'

export type StoreProcess = {
  readonly url: string
  readonly kill: () => Promise<void>
  /** Restarts the process with the same data and port. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Starts the EventStoreDB simulator as a process that can be killed without losing acknowledged
 * events.
 */
export async function startStoreProcess(): Promise<StoreProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-store-'))
  let child: NodeChild
  const start = async (port: string): Promise<string> => {
    const program = 'test/support/event-store-db/server-program.ts'
    child = spawnNode(program, '--file', join(folder, 'events'), '--port', port)
    return firstLine(child)
  }
  const url = await start('0')
  const kill = (): Promise<void> => killChild(child)
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
