import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import type { HttpListener } from './http-listener.ts'
import { lockDataFolder } from './postgres/data-lock.ts'

/** Connections that may wait to be accepted; the kernel may allow fewer. */
export const BACKLOG = 4_096

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

/** The app on the port of `config`. */
export async function listen(app: FastifyInstance, { port, host }: Config): Promise<HttpListener> {
  await app.listen({ port, host, backlog: BACKLOG }).catch(ofListening)
  const { server } = app
  return {
    url: urlOf(server, host),
    server,
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}

/** Where `server`, which listens at `host`, can be opened. */
export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const isAny = host === '0.0.0.0' || host === '::'
  return `http://${isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
