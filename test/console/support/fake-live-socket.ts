import type { Page, WebSocketRoute } from 'playwright-core'
import type { LogEntry } from '#read-api/contract/logs.ts'

/** The server's end of a page's live socket. */
export type FakeLive = {
  send(topic: string, position: number, data: object): void
  sendCalls(...rows: LogEntry[]): void
  /** Reports that events of a topic were missed. */
  resync(topic: string): void
  /** Closes the connection and refuses new connections until `acceptAgain`. */
  goAway(): Promise<void>
  acceptAgain(): void
  connections(): number
}

export async function fakeLive(page: Page): Promise<FakeLive> {
  let socket: WebSocketRoute | null = null
  let connections = 0
  let isAway = false
  await page.routeWebSocket('**/api/live', (route) => {
    if (isAway) return void route.close()
    socket = route
    route.onMessage((text) => {
      if (JSON.parse(String(text)).type !== 'subscribe') return
      connections += 1
      route.send(JSON.stringify({ type: 'ready', position: 0 }))
    })
  })
  const send = (topic: string, position: number, data: object) =>
    socket?.send(JSON.stringify({ type: 'event', topic, position, data }))
  return {
    send,
    sendCalls: (...rows) => {
      for (const row of rows) send('logs', row.id, row)
    },
    resync: (topic) => socket?.send(JSON.stringify({ type: 'resync', topic })),
    goAway: async () => {
      isAway = true
      await socket?.close()
    },
    acceptAgain: () => {
      isAway = false
    },
    connections: () => connections,
  }
}
