import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Listens on a free port of this machine. Returns the server's URL, and a function that closes the
 * port and all connections.
 */
export async function listenOnFreePort(
  server: Server,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
