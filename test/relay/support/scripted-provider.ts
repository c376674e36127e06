import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { serve } from '#test/support/start-http-server.ts'

export type ProviderRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export type Scripted = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** What is written, piece by piece; a text is one piece, anything else its JSON. */
  readonly body?: unknown
  readonly pieces?: readonly Buffer[]
  /** Not before this. */
  readonly until?: Promise<void>
  /** All pieces but the first are not written before this. */
  readonly pause?: Promise<void>
  /** Never answered at all. */
  readonly hangs?: true
  /** Not ended after the last piece. */
  readonly keepsOpen?: true
  /** The answer to the requests after this one. Without it, all get the same answer. */
  readonly next?: Scripted
}

export type ScriptedProvider = {
  readonly url: string
  readonly requests: ProviderRequest[]
  /** By method and path without query; `*` for whatever has no answer of its own. */
  readonly answers: Map<string, Scripted>
  readonly close: () => Promise<void>
}

/** A provider that answers what a test tells it to, and keeps every request as it came. */
export async function scriptedProvider(): Promise<ScriptedProvider> {
  const requests: ProviderRequest[] = []
  const answers = new Map<string, Scripted>()
  const sockets = new WebSocketServer({ noServer: true })
  /** A websocket gets the pieces as messages, after its first message. */
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { url: path = '', headers } = request
    const answer = answers.get(`GET ${path.split('?')[0]}`) ?? { status: 404 }
    const { status = 200, body = {}, pieces = [], keepsOpen } = answer
    socket.on('error', () => {})
    if (status !== 200) {
      const text = JSON.stringify(body)
      const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`
      socket.end(`HTTP/1.1 ${status} Refused\r\n${type}\r\n\r\n${text}`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('message', (message) => {
        requests.push({ method: 'GET', path, headers, body: message.toString() })
        for (const piece of pieces) opened.send(piece.toString('utf8'))
        if (keepsOpen !== true) opened.close()
      })
    })
  }
  const server = await serve((request, response) => {
    const parts: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', async () => {
      const { method = '', url: path = '', headers } = request
      requests.push({ method, path, headers, body: Buffer.concat(parts).toString('utf8') })
      const key = `${method} ${path.split('?')[0]}`
      const answer = answers.get(key) ?? answers.get('*') ?? { status: 404, body: {} }
      if (answer.next !== undefined) answers.set(key, answer.next)
      if (answer.hangs) return
      await answer.until
      const { status = 200, body = {}, pieces, keepsOpen } = answer
      response.writeHead(status, { 'content-type': 'application/json', ...answer.headers })
      if (pieces === undefined) {
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
        return
      }
      for (const piece of pieces) {
        response.write(piece)
        // Each piece in a packet of its own.
        await new Promise((resume) => setImmediate(resume))
        await answer.pause
      }
      if (keepsOpen !== true) response.end()
    })
  }, upgrade)
  return { ...server, requests, answers }
}
