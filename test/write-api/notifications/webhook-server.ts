import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Agent } from 'undici'

export type Posted = { readonly headers: IncomingHttpHeaders; readonly body: string }

/**
 * Starts a server in this process that receives webhooks, and a dispatcher that connects every
 * HTTPS address to it. `answers` are the statuses of the next responses; the last one is repeated.
 */
export async function startHookServer() {
  const posted: Posted[] = []
  let answers: readonly number[] = [200]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = answers[Math.min(posted.length, answers.length - 1)] ?? 200
      posted.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status, { location: 'https://elsewhere.example.com/' }).end('x')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const dispatcher = new Agent({
    connect: (_options, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket))
      socket.once('error', (error) => callback(error, null))
    },
  })
  return {
    posted,
    dispatcher,
    /** Forgets the received webhooks, and sets the statuses of the next responses. */
    answer: (...statuses: readonly number[]) => {
      posted.length = 0
      answers = statuses
    },
    close: async () => {
      await dispatcher.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
