import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Config } from './config/config.ts'
import { lockDataFolder } from './postgres/data-lock.ts'

/**
 * Throws what would keep the product from listening, before anything is started for it. A second
 * start on one data folder is told of that first. Both are asked again when they are taken: what
 * another program takes in between is told then.
 */
export async function refuseTakenPort(config: Config): Promise<void> {
  const { port, host, dataDir, databaseUrl } = config
  if (databaseUrl === null && existsSync(dataDir)) lockDataFolder(dataDir).release()
  const probe = createServer((socket) => socket.destroy())
  await once(probe.listen({ port, host }), 'listening').catch(ofListening)
  await new Promise((closed) => probe.close(closed))
}

/** A name that is not found would else look like the database's. */
export function ofListening(error: Error): never {
  throw Object.assign(error, { isOfListening: true })
}
