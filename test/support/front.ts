import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Sends each request on to the address that `choose` names, as a balancer in front would. */
export async function startFront(
  choose: (request: IncomingMessage) => string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = send(`${choose(incoming)}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** One after the other, round and round. */
export function inTurn(urls: readonly string[]): () => string {
  let turn = 0
  return () => {
    turn += 1
    return urls[turn % urls.length] ?? ''
  }
}
