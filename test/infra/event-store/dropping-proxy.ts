import { createServer, connect as dial, type Socket } from 'node:net'

export type DroppingProxy = {
  readonly url: string
  /** Drops the next response of Postgres and closes the connection that it belongs to. */
  readonly dropNextReply: () => void
  readonly dropped: () => number
  /**
   * Passes nothing more from Postgres to the connections that listen to notifications. They stay
   * open, as after a firewall has forgotten an idle connection.
   */
  readonly silenceListeners: () => void
  readonly close: () => Promise<void>
}

/**
 * Starts a proxy between a client and Postgres that can drop a response after the server has sent
 * it, and all notifications.
 */
export async function startDroppingProxy(databaseUrl: string): Promise<DroppingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isArmed = false
  let dropped = 0
  let areListenersSilent = false
  const server = createServer((client) => {
    const upstream = dial(Number(target.port), target.hostname)
    const both = [client, upstream]
    let isListener = false
    for (const socket of both) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        for (const other of both) other.destroy()
      })
    }
    client.on('data', (chunk) => {
      isListener ||= chunk.includes('listen ')
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isListener && areListenersSilent) return
      if (!isArmed) return void client.write(chunk)
      isArmed = false
      dropped += 1
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(databaseUrl)
  url.port = String(address !== null && typeof address === 'object' ? address.port : 0)
  return {
    url: url.href,
    dropNextReply: () => {
      isArmed = true
    },
    dropped: () => dropped,
    silenceListeners: () => {
      areListenersSilent = true
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
