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
    upstream.on('data', (bytes) => {
      if (proxy.delayMs === 0) client.write(bytes)
      else setTimeout(() => client.writable && client.write(bytes), proxy.delayMs).unref()
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
