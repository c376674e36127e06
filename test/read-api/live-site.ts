import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live-messages.ts'
import { type Api, apiFixture } from './fixture.ts'

export type Listener = {
  readonly socket: WebSocket
  readonly seen: LiveMessage[]
  /** Resolves with the first message, past or to come, that passes. */
  readonly until: (passes: (message: LiveMessage) => boolean) => Promise<LiveMessage>
  readonly ask: (message: object | string) => void
}

export type LiveSite = {
  readonly api: Api
  /** Host and port. */
  readonly url: string
  readonly connect: (userId: number, headers?: Record<string, string>) => Promise<Listener>
  /** Resolves once it is ready. */
  readonly follow: (
    userId: number,
    after?: number,
    topics?: readonly LiveTopic[],
  ) => Promise<Listener>
  readonly close: () => Promise<void>
}

/** A site that listens, and who follows it over the live socket. */
export async function liveSite(): Promise<LiveSite> {
  const api = await apiFixture()
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  const url = `127.0.0.1:${(api.app.server.address() as AddressInfo).port}`
  const open: WebSocket[] = []
  const connect: LiveSite['connect'] = async (userId, headers = {}) => {
    const session = await api.logIn(userId)
    const socket = new WebSocket(`ws://${url}/api/live`, {
      headers: { ...session, origin: `http://${url}`, ...headers },
    })
    open.push(socket)
    const listener = listenerOn(socket)
    await once(socket, 'open')
    return listener
  }
  return {
    api,
    url,
    connect,
    follow: async (userId, after, topics = ['logs', 'channels']) => {
      const listener = await connect(userId)
      listener.ask({ type: 'subscribe', topics, ...(after === undefined ? {} : { after }) })
      await listener.until(({ type }) => type === 'ready')
      return listener
    },
    close: async () => {
      for (const socket of open) socket.terminate()
      await api.close()
    },
  }
}

function listenerOn(socket: WebSocket): Listener {
  const seen: LiveMessage[] = []
  const waiting = new Set<(message: LiveMessage) => void>()
  socket.on('message', (bytes) => {
    const message = JSON.parse(String(bytes)) as LiveMessage
    seen.push(message)
    for (const tell of [...waiting]) tell(message)
  })
  return {
    socket,
    seen,
    ask: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    until: (passes) => {
      const known = seen.find(passes)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => {
        const tell = (message: LiveMessage): void => {
          if (!passes(message)) return
          waiting.delete(tell)
          resolve(message)
        }
        waiting.add(tell)
      })
    },
  }
}
