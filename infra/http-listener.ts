import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config-types.ts'
import { lockDataFolder } from './postgres/data-folder-lock.ts'

export type HttpListener = {
  /** The base URL for browsers. Empty in a process that does not listen on the port itself. */
  readonly url: string
  readonly server: HttpServer
  /** Stops accepting connections. Resolves once all open connections are closed. */
  readonly close: () => Promise<void>
}

/** The maximum number of connections that wait to be accepted. The kernel can set a lower limit. */
export const BACKLOG = 4_096

/**
 * Throws if the port or the data folder of the embedded database is in use. The folder is checked
 * first, because a second start on the same folder is the more likely mistake. The start can still
 * fail after this check, because the check reserves neither.
 */
export async function assertPortFree(config: Config): Promise<void> {
  const { port, host, dataDir, databaseUrl } = config
  if (databaseUrl === null && existsSync(dataDir)) lockDataFolder(dataDir).release()
  const probe = createServer((socket) => socket.destroy())
  await once(probe.listen({ port, host }), 'listening').catch(rethrowListenError)
  await new Promise((closed) => probe.close(closed))
}

/**
 * Marks an error as an error of `listen` and throws it. Without the mark, `describeStartError`
 * would report an unknown host name as an error of the database connection.
 */
export function rethrowListenError(error: Error): never {
  throw Object.assign(error, { isListenError: true })
}

export async function listen(app: FastifyInstance, { port, host }: Config): Promise<HttpListener> {
  await app.listen({ port, host, backlog: BACKLOG }).catch(rethrowListenError)
  const { server } = app
  return {
    url: urlOf(server, host),
    server,
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}

export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const isAny = host === '0.0.0.0' || host === '::'
  return `http://${isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
