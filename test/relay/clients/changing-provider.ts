import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { serve } from '#test/support/start-http-server.ts'
import { providerOfAllFormats } from './provider-families.ts'

/** The answer that a correct provider would send. */
export type GoodAnswer = { readonly type: string; readonly bytes: Buffer }
type Respond = (
  response: ServerResponse,
  good: GoodAnswer,
  socket: Socket,
  requestBody: string,
) => void

const AS_IT_IS: Respond = (response, { type, bytes }) => {
  response.writeHead(200, { 'content-type': type }).end(bytes)
}

/** A provider of all formats whose correct answers a test can send in another way. */
export async function changingProvider() {
  const good = await providerOfAllFormats()
  const script = { respond: AS_IT_IS, requests: [] as IncomingHttpHeaders[] }
  const server = await serve(async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {})
    script.requests.push(request.headers)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const answer = await fetch(`${good.url}${request.url}`, { method: 'POST', body })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const type = String(answer.headers.get('content-type'))
    script.respond(response, { type, bytes }, request.socket, body.toString('utf8'))
  })
  const close = async () => {
    await server.close()
    await good.close()
  }
  return Object.assign(script, { url: server.url, close })
}

/** The type of a channel whose provider has a caller's format. */
export const CHANNEL_TYPES: Readonly<Record<string, number>> = {
  ...{ chat: 8, messages: 14, responses: 1, Gemini: 24 },
}
