import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export type LocalServer = { readonly url: string; readonly close: () => Promise<void> }
type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Starts an HTTP server on a free port. `close` also closes open connections. */
export async function serve(
  listener: RequestListener,
  upgrade: Upgrade | null = null,
): Promise<LocalServer> {
  const server = createServer(listener)
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
