import { type IncomingMessage, request as send } from 'node:http'
import { type LocalServer, serve } from './start-http-server.ts'

/** Forwards each request to the URL that `choose` returns. */
export async function startLoadBalancer(
  choose: (request: IncomingMessage) => string,
): Promise<LocalServer> {
  return serve((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = send(`${choose(incoming)}${url}`, { method, headers }, (answer) => {
      // These headers are about the connection to the server. A client that read the server's
      // keep-alive time of 72 s would reuse a connection that this balancer closes after 5 s.
      const { connection: _, 'keep-alive': __, ...passedOn } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, passedOn)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
}

/** Returns a function that returns the URLs in rotation. */
export function inTurn(urls: readonly string[]): () => string {
  let turn = 0
  return () => {
    turn += 1
    return urls[turn % urls.length] ?? ''
  }
}
