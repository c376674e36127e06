import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type LatentProxy = {
  readonly url: string
  /** The delay of each response from now on, in milliseconds. */
  delayMs: number
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of a local Redis. It delays responses and keeps their order. */
export async function startLatentProxy(port: number): Promise<LatentProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    const delayed: Buffer[] = []
    let sent = 0
    // A response takes all earlier ones with it, because the client matches responses by order.
    const sendUntil = (count: number): void => {
      while (sent < count) {
        const bytes = delayed.shift()
        sent += 1
        if (bytes !== undefined && client.writable) client.write(bytes)
      }
    }
    let received = 0
    upstream.on('data', (bytes: Buffer) => {
      delayed.push(bytes)
      received += 1
      const count = received
      if (proxy.delayMs === 0) sendUntil(count)
      else setTimeout(() => sendUntil(count), proxy.delayMs).unref()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: LatentProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayMs: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
