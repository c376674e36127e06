import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export type LocalServer = { readonly url: string; readonly close: () => Promise<void> }
type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Keeps idle connections longer than the product does, as providers do. */
export const KEPT_CONNECTIONS = { keepAliveTimeout: 60_000 }

/**
 * Starts an HTTP server on a free port. `close` also closes open connections. With
 * `KEPT_CONNECTIONS`, no request of a busy test meets a connection that the server is closing.
 */
export async function serve(
  listener: RequestListener,
  upgrade: Upgrade | null = null,
  options: ServerOptions = {},
): Promise<LocalServer> {
  const server = createServer(options, listener)
  if (upgrade !== null) server.on('upgrade', upgrade)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export async function bodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
