import { type IncomingMessage, request as send } from 'node:http'
import { type LocalServer, serve } from './serve.ts'

/** Sends each request on to the address that `choose` names, as a balancer in front would. */
export async function startFront(
  choose: (request: IncomingMessage) => string,
): Promise<LocalServer> {
  return serve((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = send(`${choose(incoming)}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
}

/** One after the other, round and round. */
export function inTurn(urls: readonly string[]): () => string {
  let turn = 0
  return () => {
    turn += 1
    return urls[turn % urls.length] ?? ''
  }
}
